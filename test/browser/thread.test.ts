import { describe, expect, it } from 'vitest'
import { hasBrowser } from '../support/browser.ts'
import { look, lookInModes } from './looks.ts'
import { expectOne, write } from './people.ts'
import { below, countOf, focused, hold, openThread, POLL, postIn, SCROLLER } from './threads.ts'

describe.skipIf(!hasBrowser)('a thread in the web chat', () => {
  it('is flat: opens where the new replies begin, and reads what was in view, no further', async () => {
    const { ada, page, root_id, reply, open, unread, problems } = await openThread(30)
    await ada.threads.markRead(root_id)
    for (const each of Array(40).keys()) await reply(root_id, `New ${each}, ${'long '.repeat(60)}`)
    await open()
    await page.waitForSelector('.thread .row:has-text("New 0,") .unread-from:visible')
    await expect.poll(() => below(page), POLL).toBeGreaterThan(200)
    await expect.poll(unread, POLL).toBeLessThan(40)
    expect(await unread()).toBeGreaterThan(20)
    await page.click('.thread .pill[data-to=end]')
    await expect.poll(() => below(page), POLL).toBeLessThanOrEqual(1)
    await expect.poll(unread, POLL).toBe(0)
    // What arrives in view is read as well; its author is said once.
    await reply(root_id, 'Watched')
    await page.waitForSelector('.thread .row[data-head=false] .message:has-text("Watched")')
    await expect.poll(unread, POLL).toBe(0)
    expect(await page.locator('.thread .day-line').allTextContents()).toEqual(['Today'])
    // The conversation beside it has its first message only.
    expect(await page.locator('.conversation .row .markdown').allTextContents()).toEqual(
      ['Does it run?\n'].map((text) => text.trim()),
    )
    expect(problems).toEqual([])
  }, 180_000)

  it('reads older replies without a jump, up to the first message, and opens at the message of an address', async () => {
    const { ada, page, root_id, ids, open, url, conversation_id, problems } = await openThread(120)
    await ada.threads.markRead(root_id)
    await open()
    await expect.poll(() => below(page), POLL).toBeLessThanOrEqual(1)
    const top = (text: string) =>
      page.evaluate(`(() => {
        const row = [...document.querySelectorAll('.thread .row')].find((each) => each.textContent.includes(${JSON.stringify(text)}))
        return row ? row.getBoundingClientRect().top - ${SCROLLER}.getBoundingClientRect().top : NaN
      })()`) as Promise<number>
    const moved: number[] = []
    for (let at = 0; (await countOf(page)) < 121 && at < 40; at++) {
      const count = await countOf(page)
      await page.evaluate(`${SCROLLER}.scrollTop = 60`)
      await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))')
      const text = (await page.evaluate(`(() => {
        const top = ${SCROLLER}.getBoundingClientRect().top
        const row = [...document.querySelectorAll('.thread .row')].find((each) => each.getBoundingClientRect().top > top + 80)
        return row.querySelector('.markdown').textContent.trim()
      })()`)) as string
      const before = await top(text)
      await expect.poll(async () => (await countOf(page)) > count || count === 121, POLL).toBe(true)
      moved.push(Math.abs((await top(text)) - before))
    }
    expect(moved.length).toBeGreaterThanOrEqual(1)
    expect(Math.max(...moved)).toBeLessThanOrEqual(1)
    await page.waitForSelector('.thread .row:first-child .message:has-text("Does it run?")')

    await page.goto(`${url}/#/c/${conversation_id}`)
    await page.waitForSelector('.thread', { state: 'detached' })
    await open(`/m/${ids[5]!}`)
    await page.waitForSelector(`.thread [data-target=true][data-message-id="${ids[5]!}"]:visible`)
    await expect.poll(() => focused(page), POLL).toBe(ids[5])
    await open(`/m/${root_id}`)
    await expect.poll(() => focused(page), POLL).toBe(root_id)
    expect(problems).toEqual([])
  }, 180_000)

  it('shows an own post at once: scrolled up, in a thread of 1,003 replies, and after a jump', async () => {
    const { ada, page, root_id, open, ids, problems } = await openThread(1)
    for (const _ of Array(101).keys())
      await Promise.all(Array.from({ length: 10 }, () => ada.messages.reply(root_id, { content: 'Filler' })))
    await ada.threads.markRead(root_id)
    await open()
    await expect.poll(() => below(page), POLL).toBeLessThanOrEqual(1)
    await page.evaluate(`${SCROLLER}.scrollTop -= 300`)
    await page.waitForSelector('.thread .pill[data-to=end]')
    // A tenth of a second on an idle machine (see the bench); on any, no response is waited for.
    const release = await hold(page, /\/api\/(?!stream)/)
    await postIn(page, 'My first')
    await page.waitForSelector('.thread .message[data-pending]:has-text("My first")')
    release()
    await page.waitForSelector('.thread .pill[data-to=end]', { state: 'detached' })
    await page.waitForSelector('.thread .message:has-text("My first"):not([data-pending])')
    await open(`/m/${ids[0]!}`)
    await expect.poll(() => focused(page), POLL).toBe(ids[0])
    // Only the end of the thread is read before.
    const stored = await hold(page, /\/replies$/)
    await postIn(page, 'My second')
    stored()
    await page.waitForSelector('.thread .message:has-text("My second"):not([data-pending])')
    const { messages } = await ada.threads.messages(root_id, { limit: 2 })
    expect(messages.map(({ content, parent_id }) => [content, parent_id])).toEqual([
      ['My first', root_id],
      ['My second', root_id],
    ])
    expect(problems).toEqual([])
  }, 180_000)

  it('quotes what a reply answers, leads there, and follows its changes', async () => {
    const { ada, grace, page, root_id, ids, reply, open, problems } = await openThread(3)
    const first = ids[0]!
    for (const each of Array(60).keys()) await reply(root_id, `Between ${each}.`)
    const answer = await reply(first, 'It answers.')
    const QUOTE = `.thread [data-message-id="${answer}"] .quote`
    await open()
    await page.waitForSelector(`${QUOTE}:has-text("grace: Reply 0.")`)
    // What answers the first message has none.
    expect(await page.locator('.thread .quote').allTextContents()).toHaveLength(1)
    // It is not in the window: it is read from there.
    expect(await page.locator(`.thread [data-message-id="${first}"]`).allTextContents()).toEqual([])
    await grace.messages.edit(first, { content: 'Edited since' })
    await page.waitForSelector(`${QUOTE}:has-text("grace: Edited since")`)
    await page.click(QUOTE)
    await page.waitForSelector(`.thread [data-target=true][data-message-id="${first}"]:visible`)
    await expect.poll(() => focused(page), POLL).toBe(first)
    await page.click('.thread .pill[data-to=end]')
    await expect.poll(() => below(page), POLL).toBeLessThanOrEqual(1)
    // The same link leads there again.
    await page.click(QUOTE)
    await expect.poll(() => focused(page), POLL).toBe(first)
    await page.click('.thread .pill[data-to=end]')
    await expect.poll(() => below(page), POLL).toBeLessThanOrEqual(1)
    await grace.messages.remove(first)
    await page.waitForSelector(`${QUOTE}:has-text("deleted")`)
    expect(await page.locator('.thread').allTextContents()).not.toContain('Edited since')

    await page.hover(`.thread [data-message-id="${answer}"]`)
    await page.click(`.thread [data-message-id="${answer}"] [aria-label=Reply]`)
    await page.waitForSelector('.thread .replying:has-text("Reply to grace")')
    await write(page, 'thread', 'I see')
    await expectOne(page, '.thread .message:has-text("I see"):not([data-pending]) .quote:has-text("It answers.")')
    const { messages } = await ada.threads.messages(root_id, { limit: 1 })
    expect(messages[0]).toMatchObject({ content: 'I see', parent_id: answer })
    await look(page, 'thread-quotes')
    await lookInModes(page, 'thread-quotes')
    expect(problems).toEqual([])
  }, 180_000)
})
