import { describe, expect, it } from 'vitest'
import { createPuppet } from '../support/assistant.ts'
import { hasBrowser, type Page } from '../support/browser.ts'
import { look } from './looks.ts'
import { address, expectOne, openStage, write } from './people.ts'
import { openTalk, type Talk } from './talk.ts'

const SCROLLER = `document.querySelector('.conversation .scroll')`
const TIMEOUT = { timeout: 30_000 }

/** How far the end is below what is shown, in pixels. */
const below = (page: Page) =>
  page.evaluate(`(() => {
    const { scrollHeight, scrollTop, clientHeight } = ${SCROLLER}
    return scrollHeight - scrollTop - clientHeight
  })()`) as Promise<number>

/** Where a message is on the screen, as far from the top of its list as it is. */
const topOf = (page: Page, text: string) =>
  page.evaluate(`(() => {
    const rows = [...document.querySelectorAll('.conversation .row')]
    const row = rows.find((each) => each.querySelector('.markdown')?.textContent.trim() === ${JSON.stringify(text)})
    return row ? row.getBoundingClientRect().top - ${SCROLLER}.getBoundingClientRect().top : NaN
  })()`) as Promise<number>

const countOf = (page: Page) =>
  page.evaluate(`document.querySelectorAll('.conversation .row').length`) as Promise<number>

const unreadOf = async ({ ada, conversation_id }: Talk) => (await ada.threads.unread(conversation_id, {})).total

/** Grace has posted lines in a room; Ada opens it. */
async function openRoom(count: number, options = {}) {
  const stage = await openStage({})
  const talk = await openTalk(stage.url)
  const { conversation_id, grace } = talk
  const post = async (content: string) => (await grace.messages.postRoot(conversation_id, { content })).message
  for (const each of Array(count).keys()) await post(`Line ${each}`)
  const { page } = await stage.visit(stage.url, options)
  await talk.signIn(page, 'ada')
  const open = async (address = '') => {
    await page.goto(`${stage.url}/#/c/${conversation_id}${address}`)
    await page.waitForSelector('.stream[data-open=true]')
  }
  return { ...stage, ...talk, page, post, open, unread: () => unreadOf(talk) }
}

describe.skipIf(!hasBrowser)('a room in the web chat', () => {
  it('shows the newest message above its box, in groups of an author, and reads what was in view', async () => {
    const { page, open, unread, post, ada, conversation_id, problems } = await openRoom(8)
    await open()
    await page.waitForSelector('.stream .message:has-text("Line 7")')
    expect(await page.locator('.stream .row[data-head=true]').allTextContents()).toHaveLength(1)
    expect(await page.locator('.stream .day-line').allTextContents()).toEqual(['Today'])
    await expectOne(page, '.row:has-text("Line 0") .unread-from')
    await expect.poll(unread, TIMEOUT).toBe(0)
    await page.waitForSelector('.conversations a[data-unread=true]', { state: 'detached' })

    for (const each of Array(20).keys()) await post(`Watched ${each}`)
    await page.waitForSelector('.stream .message:has-text("Watched 19")')
    await expect.poll(unread, TIMEOUT).toBe(0)
    await expect.poll(() => below(page), TIMEOUT).toBeLessThanOrEqual(1)

    const { root_id } = await ada.messages.postRoot(conversation_id, { content: 'Does it run?' })
    await page.waitForSelector('.stream .message:has-text("Does it run?")')
    expect(await page.locator('.stream .row[data-head=true]').allTextContents()).toHaveLength(2)
    await ada.messages.reply(root_id, { content: 'It runs' })
    await page.waitForSelector('.thread-line:has-text("1 reply · last")')
    await look(page, 'stream')
    expect(problems).toEqual([])
  }, 180_000)

  it('opens at the line where the new messages begin, or at its end with a way there if that is far', async () => {
    const { page, open, unread, post, problems, ada, conversation_id } = await openRoom(30)
    await ada.conversations.markRead(conversation_id, { all: true })
    for (const each of Array(45).keys()) await post(`New ${each}, ${'long '.repeat(60)}`)
    await open()
    await page.waitForSelector('.row:has-text("New 0,") .unread-from')
    await expect.poll(() => below(page), TIMEOUT).toBeGreaterThan(200)
    // Up to what was in view, and no further.
    await expect.poll(unread, TIMEOUT).toBeLessThan(45)
    const seen = await unread()
    expect(seen).toBeGreaterThan(20)
    await page.click('.pill[data-to=end]')
    await expect.poll(() => below(page), TIMEOUT).toBeLessThanOrEqual(1)
    await expect.poll(unread, TIMEOUT).toBe(0)

    await page.goto(page.url().replace(/#.*/, '#/threads'))
    await page.waitForSelector('.settings h2:text-is("Threads")')
    for (const each of Array(60).keys()) await post(`Newer ${each}`)
    await open()
    await page.waitForSelector('.pill[data-to=line]:has-text("60 new since")')
    // Also in a narrow window, it leaves the line of the day in sight.
    await page.setViewportSize({ width: 390, height: 800 })
    await look(page, 'new-since-narrow')
    const gap = `(() => {
      const [pill, day] = ['.pill[data-to=line]', '.day-line time'].map((each) => document.querySelector(each).getBoundingClientRect())
      return pill.top - day.bottom
    })()`
    await expect.poll(() => page.evaluate(gap), TIMEOUT).toBeGreaterThanOrEqual(0)
    await page.setViewportSize({ width: 1280, height: 800 })
    await expect.poll(() => below(page), TIMEOUT).toBeLessThanOrEqual(1)
    await expect.poll(unread, TIMEOUT).toBe(0)
    await page.click('.pill[data-to=line]')
    await page.waitForSelector('.row:has-text("Newer 0") .unread-from:visible')
    await expect.poll(async () => Math.abs(await topOf(page, 'Newer 0')), TIMEOUT).toBeLessThan(80)
    // Both are there until they are dismissed.
    await page.waitForSelector('.pill[data-to=line]')
    await page.press('.conversation .composer textarea', 'Escape')
    await page.waitForSelector('.unread-from', { state: 'detached' })
    await page.waitForSelector('.pill[data-to=line]', { state: 'detached' })
    expect(problems).toEqual([])
  }, 180_000)

  it('shows an own post at once, wherever the view is, and counts what arrives below it', async () => {
    const { page, open, post, conversation_id, grace, problems } = await openRoom(150)
    const { messages } = await grace.messages.list(conversation_id, {})
    await open()
    await expect.poll(() => below(page), TIMEOUT).toBeLessThanOrEqual(1)
    await expect.poll(() => countOf(page), TIMEOUT).toBeGreaterThanOrEqual(50)
    await page.evaluate(`${SCROLLER}.scrollTop -= 300`)
    await page.waitForSelector('.pill[data-to=end]')
    await post('Below')
    await page.waitForSelector('.pill[data-to=end]:has-text("1 new")')
    const time = (text: string) =>
      page.evaluate(`new Promise((resolve) => {
        const field = document.querySelector('.conversation .composer textarea')
        const set = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value').set
        set.call(field, ${JSON.stringify(text)})
        field.dispatchEvent(new InputEvent('input', { bubbles: true }))
        requestAnimationFrame(() => {
          const begun = performance.now()
          field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }))
          const look = () => {
            const row = [...document.querySelectorAll('.conversation .row')].find((each) => each.textContent.includes(${JSON.stringify(text)}))
            const [end, view] = [row?.getBoundingClientRect().bottom, ${SCROLLER}.getBoundingClientRect()]
            if (row && end <= view.bottom + 1 && end > view.top) resolve(performance.now() - begun)
            else requestAnimationFrame(look)
          }
          look()
        })
      })`) as Promise<number>
    // A tenth of a second on an idle machine; this one may be busy.
    expect(await time('My own')).toBeLessThan(1_000)
    await page.waitForSelector('.pill[data-to=end]', { state: 'detached' })
    const [first] = messages
    await open(`/m/${first!.id}`)
    await expectOne(page, `[data-target=true][data-message-id="${first!.id}"]`)
    await expect.poll(() => page.evaluate('document.activeElement.dataset.messageId'), TIMEOUT).toBe(first!.id)
    expect(await time('My second')).toBeLessThan(2_000)
    expect(problems).toEqual([])
  }, 180_000)

  it('keeps what is in view where it is while older messages are read, and at its end while it grows', async () => {
    const { page, open, post, problems, ada, conversation_id } = await openRoom(140)
    await ada.conversations.markRead(conversation_id, { all: true })
    await open()
    await expect.poll(() => below(page), TIMEOUT).toBeLessThanOrEqual(1)
    const moved: number[] = []
    for (let at = 0; (await topOf(page, 'Line 0').then(Number.isNaN)) && at < 40; at++) {
      const count = await countOf(page)
      await page.evaluate(`${SCROLLER}.scrollTop = 60`)
      await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))')
      const text = (await page.evaluate(`(() => {
        const top = ${SCROLLER}.getBoundingClientRect().top
        const row = [...document.querySelectorAll('.conversation .row')].find((each) => each.getBoundingClientRect().top > top + 80)
        return row.querySelector('.markdown').textContent.trim()
      })()`)) as string
      const before = await topOf(page, text)
      await expect.poll(async () => (await countOf(page)) > count || count === 140, TIMEOUT).toBe(true)
      moved.push(Math.abs((await topOf(page, text)) - before))
    }
    expect(await topOf(page, 'Line 0')).not.toBeNaN()
    expect(moved.length).toBeGreaterThanOrEqual(1)
    expect(Math.max(...moved)).toBeLessThanOrEqual(1)
    await page.click('.pill[data-to=end]')
    await post('Long\n\n'.repeat(20))
    await page.waitForSelector('.message:has-text("Long")')
    await expect.poll(() => below(page), TIMEOUT).toBeLessThanOrEqual(1)
    expect(problems).toEqual([])
  }, 180_000)

  it('edits the last own message by an arrow, quotes another one, and marks one as unread', async () => {
    const { page, open, unread, problems } = await openRoom(3)
    await open()
    await page.waitForSelector('[aria-label="Message Engines"]:focus')
    await write(page, 'conversation', 'Helo')
    await page.waitForSelector('.message:has-text("Helo"):not([data-pending])')
    for (const keys of ['Alt+ArrowUp', 'Shift+ArrowUp', 'Control+ArrowUp'])
      await page.press('.conversation .composer textarea', keys)
    expect(await page.locator('.edit').allTextContents()).toEqual([])
    await page.press('.conversation .composer textarea', 'ArrowUp')
    await page.fill('.edit textarea', 'Hello')
    await page.press('.edit textarea', 'Enter')
    await expectOne(page, '.message:has-text("Hello") .tag:text("edited")')
    await page.hover('.message:has-text("Line 1")')
    await page.click('.message:has-text("Line 1") [aria-label=Reply]')
    await page.waitForSelector('.replying:has-text("Reply to grace")')
    await write(page, 'conversation', 'Indeed')
    await expectOne(page, '.message:has-text("Indeed") .quote:has-text("Line 1")')
    await expect.poll(unread, TIMEOUT).toBe(0)
    await page.hover('.message:has-text("Line 2")')
    await page.click('.message:has-text("Line 2") .actions > .menu > button')
    await page.click('.panel button:text-is("Mark unread from here")')
    await expectOne(page, '.row:has-text("Line 2") .unread-from')
    await expect.poll(unread, TIMEOUT).toBe(1)
    // Escape first ends an edit, wherever the focus is, then removes a quote, then reads.
    await page.press('.conversation .composer textarea', 'ArrowUp')
    await page.waitForSelector('.edit textarea:focus')
    await page.press('.conversation .composer textarea', 'Escape')
    await page.waitForSelector('.edit', { state: 'detached' })
    await page.hover('.message:has-text("Line 1")')
    await page.click('.message:has-text("Line 1") [aria-label=Reply]')
    await page.waitForSelector('.replying')
    await page.press('.conversation .composer textarea', 'Escape')
    await page.waitForSelector('.replying', { state: 'detached' })
    await page.waitForSelector('.unread-from')
    expect(await unread()).toBe(1)
    await page.press('.conversation .composer textarea', 'Escape')
    await page.waitForSelector('.unread-from', { state: 'detached' })
    await expect.poll(unread, TIMEOUT).toBe(0)
    await page.hover('.message:has-text("Line 1")')
    await page.click('.message:has-text("Line 1") [aria-label="Reply in thread"]')
    await page.waitForSelector('.thread textarea:focus')
    await write(page, 'thread', 'In the thread')
    await page.waitForSelector('.thread-line:has-text("1 reply")')
    await page.click('.thread > header .close')
    await page.waitForSelector('.thread-line:focus')
    expect(problems).toEqual([])
  }, 180_000)

  it('asks the assistant with one message, and goes on asking in a talk with it, also after a reload', async () => {
    const puppet = createPuppet()
    const { url, visit, problems } = await openStage({ assistant: puppet.assistant }, { limits: { max_depth: 1 } })
    const { ada, signIn, conversation_id } = await openTalk(url)
    const { page } = await visit(url)
    await signIn(page, 'ada')
    const askIn = async (id: string, text: string) => {
      await page.goto(`${url}/#/c/${id}`)
      await page.waitForSelector('.stream[data-open=true]')
      await address(page, 'conversation', 'Assistant')
      await write(page, 'conversation', text)
      const answer = await puppet.asked()
      answer.say('It does.')
      answer.end()
      await page.waitForSelector('.message[data-role=assistant]:has-text("It does.")')
    }
    await askIn(conversation_id, 'Does it run?')
    await page.waitForSelector('.conversation [aria-label="To: Everyone"]')
    await write(page, 'conversation', 'Good to know.')
    await page.waitForSelector('.message[data-role=user]:has-text("Good to know."):not([data-pending])')
    // The question is a row of its asker, the answer the one below.
    const isAbove = `document.querySelector('.message.question[aria-label="Message of Ada Lovelace"]').nextElementSibling`
    expect(await page.evaluate(`${isAbove}.dataset.role`)).toBe('assistant')

    // By the keys alone: the first of the names is the assistant; what is typed of it goes.
    const BOX = '.conversation .composer textarea'
    await page.press(BOX, 'A')
    await page.fill(BOX, 'And now? @')
    await page.waitForSelector('[role=option]:first-child:has-text("Assistant")[aria-selected=true]')
    await page.press(BOX, 'Enter')
    await page.waitForSelector('.conversation [aria-label="To: Assistant"]')
    expect(await page.inputValue(BOX)).toBe('And now? ')
    await page.press(BOX, 'Enter')
    const stopped = await puppet.asked()
    stopped.say('It')
    await page.waitForSelector('.composer [aria-label=Send]', { state: 'detached' })
    await look(page, 'answer-running')
    await page.press('.composer [aria-label=Stop]', 'Enter')
    await stopped.aborted
    await page.waitForSelector('.note:text("Stopped.")')
    await page.waitForSelector('.composer [aria-label=Send]')

    const talk = await ada.conversations.create({ title: 'Talk', layout: 'assistant' })
    for (const text of ['And this?', 'And that?', 'And those?']) {
      await page.goto(`${url}/#/c/${talk.conversation_id}`)
      await page.reload()
      await page.waitForSelector('.conversation [aria-label="To: Assistant"]')
      await write(page, 'conversation', text)
      const answer = await puppet.asked()
      answer.say(`About ${text}`)
      answer.end()
      await page.waitForSelector(`.message[data-role=assistant]:has-text("About ${text}")`)
    }
    // Each question answers the answer before it, down to the deepest; the next one begins a thread.
    await expectOne(page, '.next-thread')
    await page.waitForSelector('.row:has-text("And those?") .next-thread')
    expect(await page.locator('.thread-line').allTextContents()).toEqual([])
    await look(page, 'talk')
    const { messages } = await ada.messages.list(talk.conversation_id, { view: 'all' })
    expect(messages.map(({ prompt, depth }) => [prompt, depth])).toEqual([
      ['And this?', 0],
      ['And that?', 1],
      ['And those?', 0],
    ])

    await page.fill('.conversation .composer textarea', 'Does it fail?')
    await page.press('.conversation .composer textarea', 'Enter')
    const failing = await puppet.asked()
    failing.fail(new Error('made for a test'))
    await page.press('.note:has-text("The assistant could not answer.") button:text-is("Try again")', 'Enter')
    const second = await puppet.asked()
    second.say('Not this time.')
    second.end()
    await page.waitForSelector('.question:has-text("Does it fail?") + .message:has-text("Not this time.")')
    expect(problems).toEqual([])
  })

  it('takes what is typed while nothing has the focus, and offers no assistant where none is configured', async () => {
    const { page, open, problems } = await openRoom(1)
    await open()
    await page.waitForSelector('.conversation .send')
    // What is typed with the focus nowhere goes to the box.
    await page.evaluate('document.activeElement.blur()')
    await page.keyboard.type('Hi')
    expect(await page.inputValue('.conversation .composer textarea')).toBe('Hi')
    expect(await page.locator('.chip').allTextContents()).toEqual([])
    expect(problems).toEqual([])
  })
})
