import { describe, expect, it } from 'vitest'
import { hasBrowser } from '../support/browser.ts'
import { addClient, connect } from '../support/grants.ts'
import type { TestService } from '../support/service.ts'
import { look } from './looks.ts'
import { openStage, signInAsAda } from './people.ts'

describe.skipIf(!hasBrowser)('connected apps in the account', () => {
  it('have the address to connect to, and are disconnected', { timeout: 120_000 }, async () => {
    const config = { server: { public_url: 'http://127.0.0.1:1' }, mcp: { oauth: { enabled: true } } }
    const stage = await openStage({}, config)
    const { page, ada } = await signInAsAda(stage)
    const service = { chat: stage.chat, base_url: stage.url } as TestService
    await addClient(service)
    await connect(service, { id: ada.user_id }, ['chat:read', 'chat:ask'])

    await page.click('[aria-label="Your account"]')
    await page.click('.panel a:text("Account and settings")')
    await page.click('.tabs a:text("Connected apps")')
    await page.waitForSelector('.items li:has-text("Agent"):has-text("agent.example · reads, asks assistants")')
    expect(await page.inputValue('.sheet input[readonly]')).toBe('http://127.0.0.1:1/mcp')
    await look(page, 'account-apps')
    await page.click('[aria-label="Disconnect Agent"]')
    await page.click('dialog .danger')
    await page.waitForSelector('.sheet:has-text("No app is connected.")')
    expect(await stage.chat.grants.list(ada)).toEqual({ grants: [] })
    expect(stage.problems).toEqual([])
  })

  it('are not there without MCP', { timeout: 120_000 }, async () => {
    const stage = await openStage({}, { features: { mcp: false } })
    const { page } = await signInAsAda(stage)
    await page.click('[aria-label="Your account"]')
    await page.click('.panel a:text("Account and settings")')
    await page.waitForSelector('.tabs a:text("API keys")')
    expect(await page.locator('.tabs a').allTextContents()).not.toContain('Connected apps')
  })
})
