import { describe, expect, it } from 'vitest'
import { createChatClient } from '../../lib/client/index.ts'
import { hasBrowser } from '../support/browser.ts'
import { look } from './looks.ts'
import { openStage, PASSWORD } from './people.ts'
import { openTalk } from './talk.ts'

describe.skipIf(!hasBrowser)('the inbox of the web chat', () => {
  it('has a row for each thread, which is read when it is opened or done', async () => {
    const { url, visit, problems } = await openStage({})
    const { ada, grace, signIn, conversation_id } = await openTalk(url)
    const bob = createChatClient({ base_url: url })
    const { token = '' } = await ada.invites.create(conversation_id, {})
    await bob.invites.accept({ token, username: 'bob', email: 'bob@example.org', password: PASSWORD })
    const { username } = (await ada.auth.me()).user
    const roots: string[] = []
    for (const content of ['First', 'Second', 'Third']) {
      const { message } = await ada.messages.postRoot(conversation_id, { content })
      roots.push(message.id)
    }
    const reply = async (who: typeof ada, root: number, content: string) =>
      (await who.messages.reply(roots[root]!, { content })).message_id
    const asked = await reply(grace, 0, `Is it so, @${username}?`)
    await reply(bob, 0, `And what of this, @${username}?`)
    await reply(grace, 1, 'Yes')
    await reply(grace, 2, 'No')
    await expect.poll(async () => (await ada.notifications.list({})).unread).toBe(4)

    const { page } = await visit(url)
    await signIn(page, 'ada')
    await page.click('.inbox-button')
    const rows = () => page.locator('.inbox a').allTextContents()
    const focused = async () => (await page.locator('.inbox a:focus').allTextContents())[0]
    await expect
      .poll(rows)
      .toEqual([
        expect.stringContaining('grace replied to you in # Engines'),
        expect.stringContaining('grace replied to you in # Engines'),
        expect.stringContaining('bob and grace in # Engines'),
      ])
    await look(page, 'inbox')

    // One stop of the Tab key; a row that is done gives the focus to the next one.
    expect(await page.locator('.inbox a[tabindex="0"]').allTextContents()).toHaveLength(1)
    await page.press('.inbox li:first-child a', 'ArrowRight')
    expect(await page.evaluate('document.activeElement.ariaLabel')).toBe('Done')
    await page.press('.inbox button:focus', 'j')
    await page.press('.inbox a:focus', 'e')
    await expect.poll(async () => (await rows()).length).toBe(2)
    expect(await focused()).toMatch(/bob and grace/)
    await page.press('.inbox a:focus', 'Home')
    expect(await focused()).toMatch(/No$/)
    await page.waitForSelector('.inbox-button .badge:has-text("3")')

    // It opens at the first message that is not read, and all of the row are read.
    await page.click('.inbox li:nth-child(2) a')
    await page.waitForSelector(`.thread [data-message-id="${asked}"], .thread [data-target=true]:has-text("Is it so")`)
    await expect.poll(async () => (await ada.notifications.list({ unread: true })).notifications.length).toBe(1)
    await page.goto(`${url}/#/inbox`)
    await page.click('button:text("Mark all read")')
    await page.waitForSelector('.pane :text("You’re all caught up.")')
    await page.waitForSelector('.inbox-button .badge', { state: 'detached' })
    await page.click('.tabs a:text("All")')
    await expect.poll(async () => (await rows()).length).toBe(3)
    expect(await page.locator('.inbox a[data-unread=true]').allTextContents()).toEqual([])
    expect(problems).toEqual([])
  })

  it('stands beside the threads that one follows, those with news first', async () => {
    const { url, visit, problems } = await openStage({})
    const { ada, grace, signIn, conversation_id } = await openTalk(url)
    const { page } = await visit(url)
    await signIn(page, 'ada')
    await page.click('.sidebar a[href="#/threads"]')
    await page.waitForSelector('.pane :text("Threads you follow appear here.")')
    const roots: string[] = []
    for (const content of ['Engines of **steam**', 'Others']) {
      const { message } = await ada.messages.postRoot(conversation_id, { content })
      roots.push(message.id)
    }
    await grace.messages.reply(roots[0]!, { content: 'Of which kind?' })
    await ada.messages.reply(roots[1]!, { content: 'None' })
    const names = () => page.locator('.inbox a .name').allTextContents()
    await expect.poll(names).toEqual(['Engines of steam', 'Others'])
    await page.waitForSelector('.inbox a:has-text("Engines of steam") .badge:has-text("1")')
    await page.waitForSelector('.inbox a:has-text("Ada Lovelace · # Engines · 2 messages")')
    await ada.threads.markRead(roots[0]!)
    await expect.poll(names).toEqual(['Others', 'Engines of steam'])
    await look(page, 'threads')
    await page.click('.inbox a:has-text("Others")')
    await page.waitForSelector('.thread .message:has-text("None")')
    expect(problems).toEqual([])
  })
})
