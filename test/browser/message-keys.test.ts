import { describe, expect, it } from 'vitest'
import { hasBrowser, type Page } from '../support/browser.ts'
import { look } from './looks.ts'
import { chooseOfThread, openStage } from './people.ts'
import { openTalk } from './talk.ts'
import { openThread, POLL } from './threads.ts'

/** What has the focus: a message by its text, anything else by its label. */
const FOCUS = `(() => {
  const at = document.activeElement
  return at.dataset.messageId ? at.querySelector('.markdown').textContent.trim() : (at.ariaLabel ?? at.tagName)
})()`

const focusOf = (page: Page) => page.evaluate(FOCUS)

/** Presses a key where the focus is. */
const press = (page: Page, key: string) => page.press(':focus', key)

const isInList = `!!document.activeElement.dataset.messageId`

/** From the box, by Tab to the list above it. */
async function enter(page: Page): Promise<void> {
  await page.press('.conversation .composer textarea', 'Shift+Tab')
  for (let at = 0; at < 8 && !(await page.evaluate(isInList)); at++) await press(page, 'Shift+Tab')
}

/** Ada's messages and Grace's in a room that Ada looks at, with the focus on the last one. */
async function openRoom(count: number) {
  const stage = await openStage({})
  const talk = await openTalk(stage.url)
  const { ada, grace, conversation_id } = talk
  for (const each of Array(count).keys()) await grace.messages.postRoot(conversation_id, { content: `Line ${each}` })
  await ada.conversations.markRead(conversation_id, { all: true })
  const { message } = await ada.messages.postRoot(conversation_id, {
    content: 'Mine, with a [link](https://example.org)',
  })
  const { page } = await stage.visit(stage.url)
  await talk.signIn(page, 'ada')
  await page.goto(`${stage.url}/#/c/${conversation_id}`)
  await page.waitForSelector('.stream[data-open=true]')
  await page.waitForSelector('.row:last-child .actions button', { state: 'attached' })
  // The keys are loaded with the first list of messages.
  await expect
    .poll(async () => {
      await enter(page)
      return focusOf(page)
    }, POLL)
    .toBe('Mine, with a link')
  return { ...stage, ...talk, page, message_id: message.id }
}

describe.skipIf(!hasBrowser)('the keys of messages', () => {
  it('walk in a list, which is one stop of Tab, to what is beyond its end, too', async () => {
    const { page, problems } = await openRoom(80)
    await press(page, 'ArrowUp')
    expect(await focusOf(page)).toBe('Line 79')
    await press(page, 'k')
    expect(await focusOf(page)).toBe('Line 78')
    await press(page, 'j')
    expect(await focusOf(page)).toBe('Line 79')
    await press(page, 'End')
    expect(await focusOf(page)).toBe('Mine, with a link')
    // What is inside of a message has the focus by an arrow, and gives it back.
    await press(page, 'ArrowRight')
    await press(page, 'ArrowRight')
    expect(await page.evaluate('document.activeElement.closest("li").dataset.messageId !== undefined')).toBe(true)
    expect(await page.evaluate('document.activeElement.tagName')).not.toBe('LI')
    await press(page, 'ArrowLeft')
    await press(page, 'ArrowLeft')
    expect(await focusOf(page)).toBe('Mine, with a link')
    await press(page, 'Tab')
    expect(await page.evaluate('document.activeElement.closest(".stream")')).toBe(null)
    await enter(page)
    await expect
      .poll(async () => {
        await press(page, 'Home')
        return focusOf(page)
      }, POLL)
      .toBe('Line 0')
    expect(problems).toEqual([])
  }, 120_000)

  it('act on the message with the focus, and can be turned off', async () => {
    const { ada, page, url, conversation_id, message_id, problems } = await openRoom(3)
    await press(page, 'Enter')
    await page.waitForSelector('.panel button:text-is("Copy link")')
    expect((await page.locator('.actions .panel button:visible').allTextContents()).join()).toBe(
      'Copy text,Copy link,Edit,Mark unread from here,Pin,Profile,Delete',
    )
    await look(page, 'message-menu')
    await press(page, 'Escape')
    const again = async () => {
      await page.evaluate(`document.querySelector('[data-message-id="${message_id}"]').focus()`)
      expect(await focusOf(page)).toContain('Mine')
    }
    await again()
    await press(page, 'r')
    await page.waitForSelector('.replying')
    await press(page, 'Escape')
    await again()
    await press(page, 'e')
    await page.waitForSelector('.edit textarea:focus')
    await press(page, 'Escape')
    await again()
    await press(page, 'a')
    await page.waitForSelector('.actions .panel .emoji')
    await press(page, 'Escape')
    await again()
    await press(page, 'p')
    await expect.poll(async () => (await ada.pins.list(conversation_id)).pins.length, POLL).toBe(1)
    await again()
    await press(page, 'c')
    await page.waitForSelector('.toast:has-text("Copied"), .toast:has-text("copy")')
    await press(page, 'Delete')
    await page.waitForSelector('dialog:has-text("Delete this message?")')
    await press(page, 'Escape')
    await page.waitForSelector('dialog', { state: 'detached' })
    await again()
    await press(page, 'ArrowUp')
    await press(page, 'u')
    await expect.poll(async () => (await ada.threads.unread(conversation_id, {})).total, POLL).toBe(1)
    await again()
    await press(page, 't')
    await page.waitForSelector('.thread textarea:focus')
    await press(page, 'Escape')
    await page.waitForSelector('.thread', { state: 'detached' })

    // A click is no choice of a message: what is typed goes to the box.
    await page.click('.message:has-text("Line 1") .markdown')
    await page.keyboard.type('each')
    expect(await page.inputValue('.conversation .composer textarea')).toBe('each')
    await page.evaluate(`localStorage.setItem('chat:keys', 'off')`)
    await page.reload()
    await page.goto(`${url}/#/c/${conversation_id}/m/${message_id}`)
    await page.waitForSelector(`[data-message-id="${message_id}"]:focus`)
    await expect
      .poll(async () => {
        await again()
        await press(page, 'ArrowUp')
        return focusOf(page)
      }, POLL)
      .toBe('Line 2')
    await press(page, 'r')
    await press(page, 'k')
    expect(await focusOf(page)).toBe('Line 2')
    expect(await page.locator('.replying').allTextContents()).toEqual([])
    expect(problems).toEqual([])
  }, 120_000)

  it('work in a thread, flat and as a tree', async () => {
    const { page, ids, reply, open, problems } = await openThread(2)
    await reply(ids[0]!, 'Below')
    await open(`/m/${ids[0]!}`)
    for (const next of ['Reply 1.', 'Below']) {
      await expect
        .poll(async () => {
          await page.evaluate(`document.querySelector('.thread [data-message-id="${ids[0]!}"]').focus()`)
          await press(page, 'ArrowDown')
          return focusOf(page)
        }, POLL)
        .toBe(next)
      await press(page, 'r')
      await page.waitForSelector('.thread .replying:has-text("Reply to grace")')
      await press(page, 'Escape')
      await page.waitForSelector('.thread .replying', { state: 'detached' })
      if (next === 'Reply 1.') await chooseOfThread(page, 'As a tree')
      await page.waitForSelector(`.thread [data-message-id="${ids[0]!}"]`)
    }
    expect(problems).toEqual([])
  }, 120_000)
})
