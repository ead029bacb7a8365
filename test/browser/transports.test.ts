import { describe, expect, it } from 'vitest'
import { hasBrowser } from '../support/browser.ts'
import { bundle } from './bundle.ts'
import { openStage } from './people.ts'
import { openTalk } from './talk.ts'

/** Follows the stream in the page: `received` has the texts of messages, `opened` the requests of XMLHttpRequest. */
const follow = (options: string) => `
  window.received = []
  window.opened = 0
  const { open } = XMLHttpRequest.prototype
  XMLHttpRequest.prototype.open = function (...request) {
    opened++
    return open.apply(this, request)
  }
  void (async () => {
    const client = chat.createChatClient({ base_url: location.origin, retry_ms: 1, ${options} })
    for await (const { event } of client.events.followAll())
      if (event.type === 'stream.ready') window.isReady = true
      else if (event.type === 'message.new') received.push(event.payload.message.content)
  })()`

describe.skipIf(!hasBrowser)('an event stream by XMLHttpRequest', () => {
  it('brings each event once, although its request is replaced after a mebibyte', async () => {
    const { url, visit } = await openStage({})
    const { grace, signIn, conversation_id } = await openTalk(url)
    const { page } = await visit(url)
    await signIn(page, 'ada')
    await page.evaluate(await bundle(`export * from './lib/client/index.ts'`))
    // As in a runtime that shows no body before its end.
    await page.evaluate(`delete Response.prototype.body; ${follow('')}`)
    await expect.poll(() => page.evaluate('window.isReady')).toBe(true)
    const texts = Array.from({ length: 80 }, (_, n) => `${n} ${'héé日😀 '.repeat(4_500)}`)
    const { root_id } = await grace.messages.postRoot(conversation_id, { content: 'Begin' })
    for (const content of texts) await grace.messages.reply(root_id, { content })
    await expect.poll(() => page.evaluate('received.length'), { timeout: 20_000 }).toBe(81)
    expect(await page.evaluate('received')).toEqual(['Begin', ...texts])
    expect(await page.evaluate('opened')).toBeGreaterThan(2)
  }, 60_000)
})
