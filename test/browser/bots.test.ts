import { describe, expect, it, vi } from 'vitest'
import { MINUTE } from '../../lib/core/units.ts'
import { hasBrowser } from '../support/browser.ts'
import { look, lookInModes } from './looks.ts'
import { openDetails, openStage, PASSWORD, signIn, signInAsAda } from './people.ts'

const CONFIG = { bots: { enabled: true }, hooks: { enabled: true } }

describe.skipIf(!hasBrowser)('bots in the web chat', () => {
  it('are made, renamed, given keys, disabled and erased in the account', async () => {
    let late = 0
    const stage = await openStage({ now: () => Date.now() * 1000 + late }, CONFIG)
    const { chat, problems, url } = stage
    const { page, ada } = await signInAsAda(stage)
    const meOf = async (key: string) => {
      const response = await fetch(`${url}/api/auth/me`, { headers: { authorization: `Bearer ${key}` } })
      return [response.status, ((await response.json()) as { user?: { username: string } }).user?.username]
    }
    await page.goto(`${url}/#/account/bots`)
    await page.waitForSelector('.sheet:has-text("You have no bots.")')
    await look(page, 'bots-none')
    late = 11 * MINUTE
    await page.fill('[name=username]', 'everyone')
    await page.press('[name=username]', 'Enter')
    await page.waitForSelector('[name=username][aria-invalid]:focus')
    await page.fill('[name=username]', 'deploys')
    await page.fill('[name=description]', 'Posts what is deployed')
    await page.press('[name=description]', 'Enter')
    await page.fill('dialog [name=password]', PASSWORD)
    await page.press('dialog [name=password]', 'Enter')
    await page.waitForSelector('dialog h2:has-text("deploys")')
    await look(page, 'bots-created')
    const first = await page.inputValue('dialog input')
    expect(await meOf(first)).toEqual([200, 'deploys'])

    await page.click('dialog .primary')
    await page.waitForSelector('.identity:has-text("@deploys"):has-text("Posts what is deployed")')
    await page.waitForSelector('#settings-title:focus')
    await page.waitForSelector('.items li:has-text("First key")')
    await look(page, 'bot')
    await lookInModes(page, 'bot')
    await page.fill('[name=display_name]', 'Deployments')
    await page.press('[name=display_name]', 'Enter')
    await page.waitForSelector('.identity strong:text-is("Deployments")')
    await page.fill('[name=name]', 'The new server')
    await page.press('[name=name]', 'Enter')
    const second = await page.inputValue('dialog input')
    expect(await meOf(second)).toEqual([200, 'deploys'])
    await page.click('dialog .primary')
    await page.click('[aria-label="Revoke First key"]')
    await page.click('dialog .danger')
    await page.waitForSelector('.items li:has-text("First key")', { state: 'detached' })
    expect(await meOf(first)).toEqual([401, undefined])

    await page.click('.sheet button:text-is("Disable")')
    await page.click('dialog .danger')
    await page.waitForSelector('.identity .warning:text("disabled")')
    expect(await meOf(second)).toEqual([401, undefined])
    await page.click('button:text-is("Enable again")')
    await page.waitForSelector('.identity .warning', { state: 'detached' })
    expect(await meOf(second)).toEqual([200, 'deploys'])
    const bot_id = (await chat.bots.list(ada)).bots[0]!.id
    await chat.users.change(ada, bot_id, { disabled: true })
    await page.reload()
    await page.waitForSelector(
      '.sheet p:text-is("An administrator has disabled this bot. Only an administrator enables it again.")',
    )
    expect(await page.locator('button:text-is("Enable again")').allTextContents()).toEqual([])
    await look(page, 'bot-disabled')
    await chat.users.change(ada, bot_id, { disabled: false })
    await page.click('.sheet a:text("All bots")')
    await page.waitForSelector('#settings-title:focus')
    await page.waitForSelector('.items a:text-is("Deployments")')
    await lookInModes(page, 'bots')
    await page.click('.items a:text-is("Deployments")')
    await page.click('.sheet button:text-is("Erase")')
    await page.waitForSelector('dialog .danger:disabled')
    await page.fill('dialog [name=name]', 'deploys')
    await look(page, 'bot-erase')
    await page.click('dialog .danger')
    await page.waitForSelector('.sheet:has-text("You have no bots.")')
    expect(await chat.bots.list(ada)).toEqual({ bots: [] })
    expect(problems).toEqual([])
  }, 120_000)

  it('are not offered where the service has none, nor to users without the right to keys', async () => {
    const off = await openStage({})
    const { page } = await signInAsAda(off)
    await page.goto(`${off.url}/#/account/bots`)
    await page.waitForSelector('.tabs a[aria-current]:text-is("Profile")')
    expect(await page.locator('.tabs a').allTextContents()).not.toContain('Bots')

    const stage = await openStage({}, { ...CONFIG, access: { keys: 'admins' } })
    const { ada } = await signInAsAda(stage)
    await stage.chat.users.create(ada, { username: 'grace', email: 'grace@example.org', password: PASSWORD })
    const { page: hers } = await signIn(stage, 'grace@example.org')
    await hers.goto(`${stage.url}/#/account/bots`)
    await hers.waitForSelector('.sheet:has-text("You have no bots.")')
    expect(await hers.locator('.sheet form').allTextContents()).toEqual([])
    await hers.goto(`${stage.url}/#/account/bots/unknown`)
    await hers.waitForSelector('.sheet .quiet:text("This does not exist")')
    expect([...off.problems, ...stage.problems]).toEqual([])
  })
})

describe.skipIf(!hasBrowser)('the integrations of a room', () => {
  it('are the own bots that are added and removed, and hooks, whose address posts', async () => {
    let late = 0
    const stage = await openStage({ now: () => Date.now() * 1000 + late }, CONFIG)
    const { chat, problems, url } = stage
    const { page, ada } = await signInAsAda(stage)
    const { conversation_id } = await chat.conversations.create(ada, { title: 'Engines' })
    await page.goto(`${url}/#/c/${conversation_id}`)
    await openDetails(page, 'Integrations')
    await page.waitForSelector('.details .quiet:text-is("No bots in this room.")')
    await page.waitForSelector('.details .quiet:text-is("No hooks yet.")')
    await page.waitForSelector('.details a[href="#/account/bots"]')
    await look(page, 'integrations-none')
    const { bot } = await chat.bots.create(ada, { username: 'deploys', display_name: 'Deployments' })
    await chat.bots.create(ada, { username: 'weather' })
    await page.reload()
    await page.waitForSelector('.details .tabs a:text-is("Invite links")')
    const current = `document.querySelector('.details .tabs [aria-current]').getBoundingClientRect()`
    await vi.waitFor(async () => expect(await page.evaluate(`${current}.right < innerWidth + 1`)).toBe(true), {
      timeout: 30_000,
    })
    await page.selectOption('.details select', 'Deployments')
    await page.click('.details .one-line button:text-is("Add")')
    await page.waitForSelector('.details .items li:has-text("@deploys")')
    await page.waitForSelector('.details select:not(:has-text("Deployments"))')
    expect((await chat.participants.list(ada, conversation_id)).participants).toMatchObject([{}, { user_id: bot.id }])

    await page.click('.details .tabs a:text-is("People")')
    await page.waitForSelector('.details .participants li:has-text("@deploys") .tag:text-is("Bot")')
    await page.click('.details .tabs a:text-is("Integrations")')

    late = 11 * MINUTE
    await page.fill('.details [name=name]', 'Alerts')
    await page.press('.details [name=name]', 'Enter')
    await page.fill('dialog [name=password]', PASSWORD)
    await page.press('dialog [name=password]', 'Enter')
    await page.waitForSelector('dialog h2:has-text("Alerts")')
    await look(page, 'integrations-hook')
    const address = await page.inputValue('dialog input >> nth=0')
    expect(address).toMatch(`${url}/api/hooks/`)
    await page.click('[aria-label="Copy the command"]')
    await page.waitForSelector('[aria-label="Copy the command"]:has-text("Copied")')
    expect(await page.inputValue('dialog input >> nth=1')).toBe(
      `curl '${address}' --json '{"content":"Hello from a tool"}'`,
    )
    const headers = { 'content-type': 'application/json' }
    const posted = await fetch(address, { method: 'POST', headers, body: '{"content":"It burns"}' })
    expect(posted.status).toBe(201)
    await page.click('dialog .primary')
    await page.waitForSelector('.conversation .message:has-text("Alerts"):has-text("It burns")')
    await page.waitForSelector('.details .items li:has-text("Alerts")')
    await look(page, 'integrations')
    await lookInModes(page, 'integrations')

    await chat.conversations.rename(ada, conversation_id, { frozen: true })
    await page.waitForSelector('.details p:text-is("This room is frozen: its hooks post nothing until that ends.")')
    expect((await fetch(address, { method: 'POST', headers, body: '{"content":"It still burns"}' })).status).toBe(409)
    await look(page, 'integrations-frozen')
    await chat.conversations.rename(ada, conversation_id, { frozen: false })
    await page.waitForSelector('.details p:has-text("This room is frozen")', { state: 'detached' })

    await page.click('[aria-label="Delete Alerts"]')
    await page.click('dialog .danger')
    await page.waitForSelector('.details .quiet:text-is("No hooks yet.")')
    expect((await fetch(address, { method: 'POST', headers, body: '{"content":"Again"}' })).status).toBe(404)
    await page.click('[aria-label="Remove Deployments"]')
    await page.click('dialog .danger')
    await page.waitForSelector('.details .quiet:text-is("No bots in this room.")')
    expect(problems).toEqual([])
  }, 120_000)

  it('are for members the bots alone, in German too, and for two people none', async () => {
    const stage = await openStage({}, CONFIG)
    const { chat, problems, url } = stage
    const { ada } = await signInAsAda(stage)
    const { user } = await chat.users.create(ada, { username: 'grace', email: 'grace@example.org', password: PASSWORD })
    const { conversation_id } = await chat.conversations.create(ada, { title: 'Engines' })
    await chat.participants.add(ada, conversation_id, { user_id: user.id })
    const { bot } = await chat.bots.create(ada, { username: 'deploys' })
    await chat.participants.add(ada, conversation_id, { user_id: bot.id })
    await chat.hooks.create(ada, conversation_id, { name: 'Alerts' })
    const { page } = await signIn(stage, 'grace@example.org', { locale: 'de-DE', colorScheme: 'dark' })
    await page.goto(`${url}/#/c/${conversation_id}/details/integrations`)
    await page.waitForSelector('.details a[aria-current]:text-is("Integrationen")')
    await page.waitForSelector('.details .items li:has-text("@deploys")')
    expect(await page.locator('.details .sheet button').allTextContents()).toEqual([])
    expect(await page.locator('.details .sheet h3').allTextContents()).toEqual(['Bots'])
    await look(page, 'integrations-de')
    const { conversation } = await chat.conversations.direct(ada, { user_id: user.id })
    await page.goto(`${url}/#/c/${conversation.id}/details/integrations`)
    await page.waitForSelector('.details a[aria-current]:text-is("Über")')
    expect(await page.locator('.details .tabs a').allTextContents()).not.toContain('Integrationen')
    expect(problems).toEqual([])
  })
})
