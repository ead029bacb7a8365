import { describe, expect, it } from 'vitest'
import { hasBrowser } from '../support/browser.ts'
import { bundle } from './bundle.ts'
import { openStage } from './people.ts'
import { openTalk } from './talk.ts'

/** The client, the store, its parts and its hooks. */
const MODULES = `
  export * from './lib/client/index.ts'
  export * from './lib/client/store/index.ts'
  export * from './lib/client/store/parts.ts'
  export * from './lib/client/react/index.ts'
  export { createElement } from 'react'
  export { createRoot } from 'react-dom/client'`

/** Shows the messages of a window in a scroller at its end, and watches all of them. `marks` has the bodies of the marks. */
const show = (window: string, options = 'undefined') => `
{
  document.body.replaceChildren(document.createElement('div'))
  window.marks = []
  const send = window.fetch
  const store = window.store = chat.createChatStore(chat.createChatClient({
    base_url: location.origin,
    fetch: (url, init) => {
      if (/read$/.test(url)) marks.push({ path: new URL(url).pathname, keepalive: init.keepalive, ...JSON.parse(init.body) })
      return send(url, init)
    },
  }))
  const list = document.body.firstChild
  Object.assign(list.style, { height: '300px', overflow: 'auto' })
  const part = window.part = store.${window}
  const elements = new Map()
  const { observe } = chat.seenOf(store)
  part.subscribe(() => {
    for (const message of part.getSnapshot().messages) {
      const element = elements.get(message.id) ?? list.appendChild(document.createElement('div'))
      element.textContent = message.content
      element.style.height = (/px (\\d+)/.exec(message.content)?.[1] ?? 20) + 'px'
      elements.set(message.id, element)
      observe(element, message, ${options})
    }
  })
  window.list = list
  window.at = (top) => { list.scrollTop = top }
  window.focusPage = (hasFocus) => {
    document.hasFocus = () => hasFocus
    dispatchEvent(new Event(hasFocus ? 'focus' : 'blur'))
  }
  window.hidePage = (state) => {
    Object.defineProperty(document, 'visibilityState', { value: state, configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))
  }
}`

/** The second between two marks never passes, however slow the machine is; `looks` has the looks at what is in view. */
const HOLD_MARKS = `
{
  const { setTimeout: set, clearTimeout: clear, IntersectionObserver: Observer } = window
  const looks = window.looks = { begun: 0, left: 0 }
  const waiting = new Set()
  const asked = new Set()
  const end = (timer) => waiting.delete(timer) && looks.left--
  window.setTimeout = (act, ms, ...values) => {
    if (ms === 1000) return set(() => {}, 0)
    if (ms !== 100) return set(act, ms, ...values)
    // A look asks the observer, and has ended when that has told what it sees.
    const timer = set(() => { asked.add(timer); act() }, ms)
    waiting.add(timer)
    looks.begun++
    looks.left++
    return timer
  }
  window.clearTimeout = (timer) => { if (!asked.has(timer)) end(timer); clear(timer) }
  window.IntersectionObserver = class extends Observer {
    constructor(tell, options) {
      super((entries) => {
        tell(entries)
        for (const timer of asked) end(timer)
        asked.clear()
      }, options)
    }
  }
}`

/** Ada at an empty page with the store, in a conversation with Grace. */
async function openRoom() {
  const stage = await openStage({})
  const talk = await openTalk(stage.url)
  const { page } = await stage.visit(stage.url)
  await talk.signIn(page, 'ada')
  await page.evaluate(await bundle(MODULES))
  const { ada, grace, conversation_id } = talk
  const marks = () => page.evaluate('marks') as Promise<{ path: string; message_id: string; keepalive: boolean }[]>
  return {
    ...stage,
    page,
    ada,
    grace,
    conversation_id,
    marks,
    show: (window: string, options?: string) => page.evaluate(show(window, options)),
    post: async (content: string) => (await grace.messages.postRoot(conversation_id, { content })).root_id,
    unread: async () => (await ada.threads.unread(conversation_id, {})).total,
    shown: (count: number) => expect.poll(() => page.evaluate('part.getSnapshot().messages.length')).toBe(count),
  }
}

const passed = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

describe.skipIf(!hasBrowser)('the messages that a user has seen', () => {
  it('are read in a room while 11 lines arrive, with at most a mark in a second', async () => {
    const { conversation_id, show, post, unread, marks, shown } = await openRoom()
    await post('Begin')
    await show(`conversation('${conversation_id}')`)
    await shown(1)
    await expect.poll(unread).toBe(0)
    const before = (await marks()).length
    const begun = performance.now()
    for (let line = 0; line < 11; line++) await post(`Line ${line}`)
    await shown(12)
    await expect.poll(unread).toBe(0)
    expect((await marks()).length - before).toBeGreaterThanOrEqual(1)
    expect((await marks()).length - before).toBeLessThanOrEqual(2 + Math.floor((performance.now() - begun) / 1_000))
    expect((await marks()).every(({ path, keepalive }) => path.includes('/conversations/') && keepalive)).toBe(true)
  })

  it('stay unread when they are marked so while their mark waits', async () => {
    const { page, conversation_id, show, post, unread, shown, marks } = await openRoom()
    await post('First')
    await page.evaluate(HOLD_MARKS)
    await show(`conversation('${conversation_id}')`)
    await expect.poll(unread).toBe(0)
    const second = await post('Second')
    await shown(2)
    await passed(900)
    expect(await unread()).toBe(1)
    await page.evaluate(`part.markUnread('${second}').then(() => hidePage('hidden'))`)
    await passed(500)
    expect((await marks()).filter(({ path }) => path.endsWith('/read'))).toHaveLength(1)
    expect(await unread()).toBe(1)
  })

  it('are those whose end stays in view: not of a long message that begins there, nor those that are scrolled past', async () => {
    const { page, conversation_id, show, post, unread, shown, marks } = await openRoom()
    const long = await post('Long, px 900')
    await post('Short')
    const far = await post('Far, px 900')
    await show(`conversation('${conversation_id}')`)
    await shown(3)
    await passed(900)
    expect(await unread()).toBe(3)
    // Past its end, which is in view for one frame, to the middle of the last one.
    await page.evaluate(`new Promise((resolve) => {
      at(800)
      requestAnimationFrame(() => requestAnimationFrame(() => resolve(at(1200))))
    })`)
    await passed(900)
    expect(await marks()).toEqual([])
    await page.evaluate('at(610)')
    await expect.poll(unread).toBe(2)
    expect(await marks()).toMatchObject([{ message_id: long }])
    await page.evaluate('at(100000)')
    await expect.poll(unread).toBe(0)
    expect((await marks()).at(-1)).toMatchObject({ message_id: far })
  })

  it('are none while the page is hidden or has lost the focus', async () => {
    const { page, conversation_id, show, post, unread, shown, marks } = await openRoom()
    await show(`conversation('${conversation_id}')`)
    await page.evaluate('focusPage(false)')
    await post('One')
    await shown(1)
    await passed(900)
    await page.evaluate('hidePage("hidden"); focusPage(true)')
    await passed(900)
    expect(await marks()).toEqual([])
    await page.evaluate('hidePage("visible")')
    await expect.poll(unread).toBe(0)
  })

  it('are read although the page is left before the second has passed', async () => {
    const { page, url, conversation_id, show, post, unread, shown, marks } = await openRoom()
    await post('One')
    await page.evaluate(HOLD_MARKS)
    await show(`conversation('${conversation_id}')`)
    await shown(1)
    await expect.poll(async () => (await marks()).length).toBe(1)
    // Its mark waits for the second: the page is left when its end was in view for long enough.
    await page.evaluate('looks.begun = 0')
    await post('Two')
    await shown(2)
    await expect.poll(() => page.evaluate('looks.begun > 0 && looks.left === 0')).toBe(true)
    expect((await marks()).length).toBe(1)
    await page.goto(`${url}/healthz`)
    await expect.poll(unread).toBe(0)
  })

  it('of a thread are read in the thread alone, and with all messages in view those before them', async () => {
    const { ada, grace, conversation_id, show, post, shown, unread, marks } = await openRoom()
    const other = await post('Other')
    const root_id = await post('Does it run?')
    const { message_id } = await grace.messages.reply(root_id, { content: 'It runs.' })
    await show(`replies('${root_id}')`)
    await shown(1)
    await expect.poll(unread).toBe(1)
    expect(await marks()).toMatchObject([{ path: `/api/threads/${root_id}/read`, message_id }])
    expect((await ada.threads.unread(conversation_id, {})).threads.map((thread) => thread.root_id)).toEqual([other])
    await show(`conversation('${conversation_id}', { view: 'all' })`, "{ view: 'all' }")
    await shown(3)
    await grace.messages.reply(other, { content: 'So does this.' })
    await expect.poll(unread).toBe(0)
    expect((await marks()).every((mark) => 'all' in mark)).toBe(true)
  })

  it('stay unread that the user marks so, until they come into view again', async () => {
    const { page, conversation_id, show, post, unread, shown } = await openRoom()
    const id = await post('One, px 200')
    await show(`conversation('${conversation_id}')`)
    await shown(1)
    await expect.poll(unread).toBe(0)
    await page.evaluate(`part.markUnread('${id}')`)
    await expect.poll(unread).toBe(1)
    await passed(1_200)
    expect(await unread()).toBe(1)
    await page.evaluate('list.style.display = "none"')
    await passed(100)
    await page.evaluate('list.style.display = "block"')
    await expect.poll(unread).toBe(0)
  })

  it('are read in React, where a message that is rendered anew stays in view', async () => {
    const { page, ada, conversation_id, post, unread } = await openRoom()
    const id = await post('One')
    await page.evaluate(`{
      const { createElement: h } = chat
      const Line = ({ message }) => h('p', { ref: chat.useSeen(message) }, message.content, message.reactions?.length)
      const Room = () => chat.useConversation('${conversation_id}').messages.map((message) => h(Line, { key: message.id, message }))
      document.body.replaceChildren(document.createElement('main'))
      const client = chat.createChatClient({ base_url: location.origin })
      chat.createRoot(document.body.firstChild).render(h(chat.ChatProvider, { client }, h(Room)))
    }`)
    await page.waitForSelector('p:text("One")')
    // It changes more often than what is in view is read.
    for (let change = 0; change < 100 && (await unread()) > 0; change++) {
      await (change % 2 ? ada.reactions.remove(id, '🎉') : ada.reactions.add(id, '🎉'))
      await passed(200)
    }
    expect(await unread()).toBe(0)
  })
})
