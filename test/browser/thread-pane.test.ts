import { describe, expect, it } from 'vitest'
import { hasBrowser } from '../support/browser.ts'
import { look } from './looks.ts'
import { choose, chooseOfThread } from './people.ts'
import { hold, openThread, POLL, postIn } from './threads.ts'

describe.skipIf(!hasBrowser)('the pane of a thread in the web chat', () => {
  it('is closed by Escape after what is inside of it, and gives the focus back to its line', async () => {
    const { ada, page, ids, open, grace, conversation_id, problems } = await openThread(2)
    await grace.messages.postRoot(conversation_id, { content: 'Another one' })
    await open()
    await page.waitForSelector('.thread .composer textarea:focus')
    await page.hover(`.thread [data-message-id="${ids[0]!}"]`)
    await page.click(`.thread [data-message-id="${ids[0]!}"] [aria-label=Reply]`)
    await page.waitForSelector('.thread .replying')
    await page.press('.thread .composer textarea', 'Escape')
    await page.waitForSelector('.thread .replying', { state: 'detached' })
    await page.press('.thread .composer textarea', 'Escape')
    await page.waitForSelector('.thread', { state: 'detached' })
    await page.waitForSelector('.thread-line:focus')
    // Also from the conversation beside it, which is marked as read by the next one only.
    const { message: last } = await grace.messages.postRoot(conversation_id, {
      content: `Unseen ${'long\n\n'.repeat(90)}`,
    })
    await page.waitForSelector(`.conversation [data-message-id="${last.id}"]`, { state: 'attached' })
    await open()
    await ada.conversations.markUnread(conversation_id, { message_id: last.id })
    await page.press('.conversation .composer textarea', 'Escape')
    await page.waitForSelector('.thread', { state: 'detached' })
    expect((await ada.threads.unread(conversation_id, {})).total).toBeGreaterThan(0)
    await page.press('.conversation .composer textarea', 'Escape')
    await expect.poll(async () => (await ada.threads.unread(conversation_id, {})).total, POLL).toBe(0)
    expect(problems).toEqual([])
  }, 180_000)

  it('keeps what is unread from a message on until it is opened anew, flat and as a tree', async () => {
    const { page, reply, root_id, open, unread, problems } = await openThread(3)
    for (const view of ['flat', 'tree']) {
      await open()
      if (view === 'tree') await chooseOfThread(page, 'As a tree')
      await expect.poll(unread, POLL).toBe(0)
      await page.waitForSelector('.thread [role=log] .message:has-text("Reply 1.") .actions button', {
        state: 'attached',
      })
      await page.evaluate(
        `[...document.querySelectorAll('.thread [data-message-id]')].find((row) => row.textContent.includes('Reply 1.')).focus()`,
      )
      await page.press(':focus', 'u')
      await page.waitForSelector('.thread li:has-text("Reply 1.") > .unread-from')
      await expect.poll(unread, POLL).toBeGreaterThan(1)
      const before = await unread()
      await reply(root_id, `More in a ${view}`)
      await page.waitForSelector(`.thread .message:has-text("More in a ${view}")`)
      await page.evaluate(`new Promise((resolve) => setTimeout(resolve, 1500))`)
      expect(await unread()).toBe(before + 1)
      await page.press('.thread .composer textarea', 'Escape')
      await page.waitForSelector('.thread', { state: 'detached' })
    }
    await page.click('.thread-line')
    await expect.poll(unread, POLL).toBe(0)
    expect(problems).toEqual([])
  }, 120_000)

  it('ends an edit by Escape before it is closed, also with the focus elsewhere', async () => {
    const { page, ada, root_id, open, problems } = await openThread(1)
    await ada.messages.reply(root_id, { content: 'My own' })
    await open()
    await choose(page, 'My own', 'Edit')
    await page.waitForSelector('.thread .edit textarea:focus')
    await page.press('.thread .composer textarea', 'Escape')
    await page.waitForSelector('.thread .edit', { state: 'detached' })
    await page.waitForSelector('.thread .composer')
    await page.press('.thread .composer textarea', 'Escape')
    await page.waitForSelector('.thread', { state: 'detached' })
    expect(problems).toEqual([])
  }, 120_000)

  it('has a title that its author changes, and a menu: follow, mark unread, copy link, as a tree', async () => {
    const { ada, grace, page, root_id, ids, reply, open, unread, url, visit, signIn, conversation_id, problems } =
      await openThread(1)
    await reply(ids[0]!, 'A branch')
    await reply(ids[0]!, 'In it')
    await reply(root_id, 'Beside it')
    await open()
    await page.click('.thread [aria-label="Edit title"]')
    await page.fill('.title-form input', 'Steam engines')
    await look(page, 'thread-naming')
    await page.press('.title-form input', 'Enter')
    await page.waitForSelector('.thread h2:has-text("Steam engines")')
    await page.waitForSelector('.conversation .thread-title:text-is("Steam engines")')
    await page.click('.thread [aria-label="Edit title"]')
    await page.fill('.title-form input', 'Not kept')
    await page.press('.title-form input', 'Escape')
    await page.waitForSelector('.thread h2:has-text("Steam engines")')

    const following = async () => (await ada.threads.messages(root_id, {})).root.thread?.following
    await chooseOfThread(page, 'Unfollow')
    await expect.poll(following, POLL).toBe(false)
    await chooseOfThread(page, 'Follow')
    await expect.poll(following, POLL).toBe(true)
    await expect.poll(unread, POLL).toBe(0)
    await chooseOfThread(page, 'Mark unread')
    await page.waitForSelector('.thread-line:focus')
    await expect.poll(unread, POLL).toBe(4)

    await open()
    await chooseOfThread(page, 'As a tree')
    await page.click('.thread button:text-is("Hide 2 replies")')
    await page.waitForSelector('.thread .message:has-text("In it")', { state: 'detached' })
    await reply(ids[0]!, 'New in it')
    await page.waitForSelector('.thread .branch:text-is("3 replies, 1 new")')
    const levels = `[...document.querySelectorAll('.thread .messages > li')].map((row) => row.dataset.level).join('')`
    expect(await page.evaluate(levels)).toBe('011')
    await look(page, 'thread-tree')
    // An own post in a collapsed branch opens it.
    await page.hover(`.thread [data-message-id="${ids[0]!}"] .message`)
    await page.click(`.thread [data-message-id="${ids[0]!}"] [aria-label=Reply]`)
    const release = await hold(page, /\/api\/(?!stream)/)
    await postIn(page, 'My own in it')
    await page.waitForSelector('.thread .message[data-pending]:has-text("My own in it")')
    release()
    await page.waitForSelector('.thread button:text-is("Hide 4 replies")')
    await page.click('.thread > header .menu > button')
    await page.waitForSelector('.thread > header .panel [aria-pressed=true]:text-is("As a tree")')

    // Who neither began it nor looks after the conversation does not name it.
    const { page: other } = await visit(url, { locale: 'de-DE', colorScheme: 'dark' })
    await signIn(other, 'grace')
    await other.goto(`${url}/#/c/${conversation_id}/t/${root_id}`)
    await other.waitForSelector('.thread h2:has-text("Steam engines")')
    await other.waitForSelector('.thread [aria-label=Mehr]')
    expect(await other.locator('.thread [aria-label="Titel bearbeiten"]').allTextContents()).toEqual([])
    await other.click('.thread > header .menu > button')
    await look(other, 'thread-menu-german')
    await grace.threads.markRead(root_id)
    expect(problems).toEqual([])
  }, 180_000)

  it('is beside the conversation, or over it in a window of less than 1,200 pixels', async () => {
    const { page, open, problems } = await openThread(3)
    await open()
    for (const [width, isBeside] of [
      [1440, true],
      [1201, true],
      [1199, false],
      [960, false],
      [721, false],
      [390, false],
    ] as const) {
      await page.setViewportSize({ width, height: 800 })
      await page.waitForSelector('.conversation', { state: isBeside ? 'visible' : 'hidden' })
      await page.waitForSelector('.thread .message:visible')
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
      if (process.env.WEB_SHOTS) await page.screenshot({ path: `${process.env.WEB_SHOTS}/thread-${width}.png` })
    }
    await choose(page, 'Reply 1.', 'Mark unread from here')
    await page.waitForSelector('.thread .row:has-text("Reply 1.") .unread-from')
    expect(problems).toEqual([])
  }, 120_000)
})
