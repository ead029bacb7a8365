import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { hasBrowser, type Page } from '../support/browser.ts'
import { openStage, PASSWORD } from './people.ts'
import { openTalk } from './talk.ts'

const focusIn = (page: Page, box: string) => page.waitForSelector(`textarea[aria-label="${box}"]:focus`)

it.skipIf(!hasBrowser)(
  'where files can be attached, the box has the focus after a room is opened, created and joined, a thread closed, a post sent',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'chat-web-focus-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const { url, visit, problems } = await openStage({}, { attachments: { enabled: true, storage: `fs:${folder}` } })
    const { ada, conversation_id, signIn } = await openTalk(url)
    await ada.messages.postRoot(conversation_id, { content: 'Does it run?' })
    const { page } = await visit(url)
    await signIn(page, 'ada')
    await page.click('.conversations a:has-text("Engines")')
    await page.waitForSelector('.conversation .composer input[type=file]', { state: 'attached' })
    await focusIn(page, 'Message Engines')
    await page.keyboard.type('It does')
    await page.click('.conversation .composer .send')
    await page.waitForSelector('.message:has-text("It does"):not([data-pending])')
    await focusIn(page, 'Message Engines')
    await page.hover('.message:has-text("It does")')
    await page.click('.message:has-text("It does") [aria-label="Reply in thread"]')
    await focusIn(page, 'Reply')
    await page.click('.thread a.close')
    await page.waitForSelector('.thread', { state: 'detached' })
    await focusIn(page, 'Message Engines')
    await page.click('[aria-label="New room"]')
    await page.waitForSelector('dialog [name=title]:focus')
    await page.keyboard.type('Weaving')
    await page.keyboard.press('Enter')
    await focusIn(page, 'Message Weaving')

    const { token = '' } = await ada.invites.create(conversation_id, {})
    const { page: joining } = await visit(`${url}/#/join/${token}`)
    await joining.fill('[name=display_name]', 'Bob')
    await joining.fill('[name=email]', 'bob@example.org')
    await joining.fill('[name=password]', PASSWORD)
    await joining.press('[name=password]', 'Enter')
    await focusIn(joining, 'Message Engines')
    expect(problems).toEqual([])
  },
  120_000,
)
