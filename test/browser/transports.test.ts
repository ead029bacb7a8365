import { describe, expect, it } from 'vitest'
import { hasBrowser } from '../support/browser.ts'
import { innerState } from '../support/service.ts'
import { bundle } from './bundle.ts'
import { openStage } from './people.ts'
import { openTalk } from './talk.ts'

/**
 * Follows the stream in the page: `received` has the texts of messages, `opened` the requests of XMLHttpRequest.
 *
 * @param options of the client
 * @param each is done with every message
 */
const follow = (options: string, each = '') => `
  window.received = []
  window.opened = 0
  window.requests = []
  window.controller = new AbortController()
  const { open } = XMLHttpRequest.prototype
  XMLHttpRequest.prototype.open = function (...request) {
    opened++
    requests.push(this)
    return open.apply(this, request)
  }
  void (async () => {
    const client = chat.createChatClient({ base_url: location.origin, retry_ms: 1, ${options} })
    for await (const { event } of client.events.followAll({ signal: controller.signal }))
      if (event.type === 'stream.ready') window.isReady = true
      else if (event.type === 'message.new') {
        received.push(event.payload.message.content)
        ${each}
      }
    window.isOver = true
  })()`

/** A page that follows the stream as in a runtime that shows no body before its end. */
async function open(each = '') {
  const { url, visit, chat } = await openStage({})
  const { grace, signIn, conversation_id } = await openTalk(url)
  const { page } = await visit(url)
  await signIn(page, 'ada')
  await page.evaluate(await bundle(`export * from './lib/client/index.ts'`))
  await page.evaluate(`delete Response.prototype.body; ${follow('', each)}`)
  await expect.poll(() => page.evaluate('window.isReady')).toBe(true)
  return { grace, page, conversation_id, chat }
}

describe.skipIf(!hasBrowser)('an event stream by XMLHttpRequest', () => {
  it('brings each event once, although its request is replaced after a mebibyte', async () => {
    const { grace, page, conversation_id } = await open()
    const texts = Array.from({ length: 80 }, (_, n) => `${n} ${'héé日😀 '.repeat(4_500)}`)
    const { root_id } = await grace.messages.postRoot(conversation_id, { content: 'Begin' })
    for (const content of texts) await grace.messages.reply(root_id, { content })
    await expect.poll(() => page.evaluate('received.length'), { timeout: 60_000 }).toBe(81)
    expect(await page.evaluate('received')).toEqual(['Begin', ...texts])
    expect(await page.evaluate('opened')).toBeGreaterThan(2)
  })

  it('loses nothing for a reader that is busy while more than a mebibyte arrives', async () => {
    const { grace, page, conversation_id } = await open('await new Promise((resolve) => (window.readOn = resolve))')
    const texts = Array.from({ length: 40 }, (_, n) => `${n} ${'x'.repeat(60_000)}`)
    const { root_id } = await grace.messages.postRoot(conversation_id, { content: 'Begin' })
    await expect.poll(() => page.evaluate('typeof window.readOn')).toBe('function')
    for (const content of texts) await grace.messages.reply(root_id, { content })
    // All that was sent has arrived in the one request, unread.
    await expect
      .poll(() => page.evaluate('requests[0].responseText.length'), { timeout: 60_000 })
      .toBeGreaterThan(40 * 60_000)
    expect(await page.evaluate('[received, opened]')).toEqual([['Begin'], 1])
    await page.evaluate('const read = () => { readOn(); if (received.length < 41) setTimeout(read) }; read()')
    await expect.poll(() => page.evaluate('received.length'), { timeout: 60_000 }).toBe(41)
    expect(await page.evaluate('received')).toEqual(['Begin', ...texts])
  })

  it.each([
    ['waits', ''],
    ['is busy', 'await new Promise((resolve) => (window.readOn = resolve))'],
  ])(
    'ends its request, and opens no other, when it is aborted while its reader %s',
    async (_, each) => {
      const { grace, page, conversation_id, chat } = await open(each)
      await grace.messages.postRoot(conversation_id, { content: 'Begin' })
      await expect.poll(() => page.evaluate('received.length')).toBe(1)
      expect(innerState(chat).streams.hub.size()).toBe(2)
      await page.evaluate('controller.abort(); window.readOn?.()')
      await expect.poll(() => page.evaluate('window.isOver')).toBe(true)
      // UNSENT: the request was aborted.
      expect(await page.evaluate('requests.map(({ readyState }) => readyState)')).toEqual([0])
      // That of the page itself.
      await expect.poll(() => innerState(chat).streams.hub.size()).toBe(1)
    },
    120_000,
  )
})
