import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { describeOnEachDatabase } from '../support/databases.ts'
import { describeService, setUpNodes, startNodes } from '../support/describe-service.ts'
import { callMcpTool, type Rpc, readRpc, sendMcp } from '../support/mcp.ts'
import { innerState, startService, startThread, type TestService } from '../support/service.ts'

/** Resolves when calls wait on a service. */
const waitUntilWaiting = (service: TestService, calls: number) =>
  vi.waitUntil(
    () => service.nodes.reduce((sum, node) => sum + innerState(node).streams.hub.watch.size(), 0) === calls,
    { timeout: 30_000 },
  )

const contents = ({ messages }: Rpc) => messages.map(({ content }: Rpc) => content)

describeService('waiting for messages over MCP', (service) => {
  let here: Awaited<ReturnType<typeof startThread>>
  let ada: string
  let grace: string
  beforeAll(async () => {
    here = await startThread(service)
    ada = (await here.ada.keys.create({ name: 'agent' })).key
    grace = (await here.grace.keys.create({ name: 'agent' })).key
  })

  async function wait(key: string, args: object): Promise<Rpc> {
    const { structuredContent, content, isError } = await callMcpTool(service, key, 'wait_for_messages', args)
    if (isError) return JSON.parse(content[0].text)
    expect(Buffer.byteLength(content[0].text)).toBeLessThanOrEqual(60 * 1024)
    return structuredContent
  }
  const post = (content: string) => here.ada.messages.reply(here.root.message_id, { content })

  it('ends with the next message', async () => {
    const waiting = wait(grace, { after: 'now' })
    await waitUntilWaiting(service, 1)
    await post('awaited')
    const news = await waiting
    expect(news.messages).toMatchObject([{ content: 'awaited', author: 'ada', root_id: here.root.root_id }])
    await waitUntilWaiting(service, 0)
    const next = wait(grace, { after: news.after })
    await waitUntilWaiting(service, 1)
    const { message_id } = await post('before')
    expect(contents(await next)).toEqual(['before'])
    await here.ada.messages.edit(message_id, { content: 'after' })
  })

  it('returns at once what came between two calls, each message once, as it is', async () => {
    const { after } = (await callMcpTool(service, grace, 'list_conversations')).structuredContent
    const { message_id } = await post('one')
    await post('two')
    await here.ada.messages.edit(message_id, { content: 'one, edited' })
    const news = await wait(grace, { after })
    expect(contents(news)).toEqual(['one, edited', 'two'])
    expect(await wait(grace, { after: news.after, seconds: 1 })).toEqual({ messages: [], after: expect.any(String) })
  })

  it.each(['conversation_id', 'root_id'] as const)(
    'continues from a position of a conversation, with its %s',
    async (name) => {
      const ids = { conversation_id: here.conversation_id, root_id: here.root.root_id }
      const { after } = (await callMcpTool(service, grace, 'read_thread', { root_id: here.root.root_id }))
        .structuredContent
      await here.ada.messages.postRoot(here.conversation_id, { content: 'another thread' })
      await post('in the thread')
      const news = await wait(grace, { [name]: ids[name], after })
      expect(contents(news)).toEqual(name === 'root_id' ? ['in the thread'] : ['another thread', 'in the thread'])
      const waiting = wait(grace, { [name]: ids[name], after: news.after })
      await waitUntilWaiting(service, 1)
      const other = await here.ada.conversations.create({ title: 'Other' })
      await here.ada.messages.postRoot(other.conversation_id, { content: 'elsewhere' })
      await post('awaited')
      expect(contents(await waiting)).toEqual(['awaited'])
      // A position of all conversations serves as well.
      const { after: ofAll } = (await callMcpTool(service, grace, 'list_conversations')).structuredContent
      await post('by any position')
      expect(contents(await wait(grace, { [name]: ids[name], after: ofAll }))).toEqual(['by any position'])
    },
  )

  it('returns at most 50 messages and 60 KiB at once, and the rest by its position', async () => {
    const { after } = (await callMcpTool(service, grace, 'list_conversations')).structuredContent
    for (let n = 0; n < 55; n++) await post(`${n}`)
    await post('x'.repeat(64_000))
    await post('y'.repeat(30_000))
    const pages: Rpc[] = []
    for (let position = after; pages.length < 10; ) {
      const page = await wait(grace, { after: position, seconds: 1 })
      pages.push(page)
      position = page.after
      if (!page.more) break
    }
    expect(pages.flatMap(contents).map((content: string) => content.slice(0, 2))).toEqual([
      ...Array.from({ length: 55 }, (_, n) => `${n}`),
      'xx',
      'yy',
    ])
    expect(pages.every(({ messages }) => messages.length <= 50)).toBe(true)
    expect(pages[0].messages).toHaveLength(50)
  })

  it.each(['', 'nonsense', '0123456789abcdef.7', `${'f'.repeat(16)}.99999999`])(
    'starts again from the unusable position "%s"',
    async (after) => {
      const { reset, after: next, messages } = await wait(grace, { after })
      expect([reset, messages]).toEqual([true, []])
      await post('later')
      expect(contents(await wait(grace, { after: next }))).toEqual(['later'])
      const own = await wait(grace, { conversation_id: here.conversation_id, after })
      expect([own.reset, own.after.split('.')[0]]).toEqual([
        true,
        (await here.grace.threads.list(here.conversation_id)).stream_position!.split('.')[0],
      ])
    },
  )

  it('sees nothing of the conversations of others, and ends for a user who is removed', async () => {
    const eve = (await here.eve.keys.create({ name: 'agent' })).key
    const { conversation_id, root } = here
    expect(await wait(eve, { conversation_id, after: 'now' })).toMatchObject({ code: 'not_found' })
    expect(await wait(eve, { root_id: root.root_id, after: 'now' })).toMatchObject({ code: 'not_found' })
    const { after } = await wait(eve, { after: 'now', seconds: 1 })
    await post('not for eve')
    expect(contents(await wait(eve, { after, seconds: 1 }))).toEqual([])
    await here.ada.participants.add(conversation_id, { user_id: here.eve.id })
    const waiting = wait(eve, { conversation_id, after: 'now', seconds: 55 })
    await waitUntilWaiting(service, 1)
    await here.ada.participants.remove(conversation_id, here.eve.id)
    expect(await waiting).toMatchObject({ code: 'not_found' })
  })

  it.each(['application/json, text/event-stream', 'application/json'])(
    'ends when the client closes the response (%s)',
    async (accept) => {
      const closing = new AbortController()
      const params = { name: 'wait_for_messages', arguments: { after: 'now', seconds: 55 } }
      const response = sendMcp(service, 'tools/call', params, {
        key: grace,
        headers: { accept },
        signal: closing.signal,
      })
      const read = response.then(async (given) => {
        for await (const _ of readRpc(given));
      })
      read.catch(() => {})
      await waitUntilWaiting(service, 1)
      closing.abort()
      await expect(read).rejects.toThrow()
      await waitUntilWaiting(service, 0)
      for (const node of service.nodes) expect(innerState(node).streams.hub.countStreams(here.grace.id)).toBe(0)
    },
  )

  it('is an event stream that proxies pass on, with comments while nothing happens', async () => {
    const params = { name: 'wait_for_messages', arguments: { after: 'now', seconds: 55 } }
    const response = await sendMcp(service, 'tools/call', params, { key: grace })
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store, no-transform',
      'x-accel-buffering': 'no',
    })
    await waitUntilWaiting(service, 1)
    for (const node of service.nodes) innerState(node).streams.hub.sendHeartbeats()
    await post('done')
    const text = await response.text()
    expect(text).toMatch(/\n: keep-alive\n/)
    expect(text.match(/^data: /gm)).toHaveLength(1)
  })

  it('counts as a stream of the user', async () => {
    const { max_streams_per_user } = innerState(service).config.sse
    const closing = new AbortController()
    const params = { name: 'wait_for_messages', arguments: { after: 'now', seconds: 55 } }
    const options = { key: grace, signal: closing.signal }
    const open = Array.from({ length: max_streams_per_user }, () => sendMcp(service, 'tools/call', params, options))
    await Promise.all(open)
    await waitUntilWaiting(service, max_streams_per_user)
    await service.idle()
    expect(await wait(grace, { after: 'now' })).toMatchObject({
      code: 'too_many_streams',
      retry_after: expect.any(Number),
    })
    expect((await wait(ada, { after: 'now', seconds: 1 })).messages).toEqual([])
    closing.abort()
    await waitUntilWaiting(service, 0)
  })

  it('refuses a wait that is too long, and none at all', async () => {
    const code = (args: object) => callMcpTool(service, grace, 'wait_for_messages', args).catch(({ code }) => code)
    expect(await code({ after: 'now', seconds: 56 })).toBe(-32602)
    expect(await code({ after: 'now', seconds: 0 })).toBe(-32602)
    expect(await code({})).toBe(-32602)
  })
})

describe('a service that drains', () => {
  it('lets calls that wait return', async () => {
    const service = await startService('sqlite::memory:')
    onTestFinished(() => service.close())
    const ada = await service.signIn('ada')
    const { key } = await ada.keys.create({ name: 'agent' })
    const waiting = callMcpTool(service, key, 'wait_for_messages', { after: 'now', seconds: 55 })
    await waitUntilWaiting(service, 1)
    service.chat.drain()
    expect((await waiting).structuredContent).toEqual({ messages: [], after: expect.any(String) })
    expect(
      JSON.parse((await callMcpTool(service, key, 'wait_for_messages', { after: 'now' })).content[0].text),
    ).toMatchObject({
      code: 'unavailable',
    })
  })
})

describeOnEachDatabase('waiting on two nodes', (openUrl) => {
  const [one, other] = setUpNodes(async () => startNodes(await openUrl()))

  it('ends with a message that another node has stored', async () => {
    const { ada, root } = await startThread(one)
    const { key } = await ada.keys.create({ name: 'agent' })
    const waiting = callMcpTool(other, key, 'wait_for_messages', { after: 'now', seconds: 55 })
    await vi.waitUntil(() => innerState(other).streams.hub.watch.size() === 1, { timeout: 30_000 })
    await ada.messages.reply(root.message_id, { content: 'from one' })
    expect(contents((await waiting).structuredContent)).toEqual(['from one'])
  })

  it('ends within moments for a key that is revoked on another node', async () => {
    const grace = await one.signIn('grace')
    const { key, id } = await grace.keys.create({ name: 'agent' })
    const waiting = callMcpTool(other, key, 'wait_for_messages', { after: 'now', seconds: 55 })
    await vi.waitUntil(() => innerState(other).streams.hub.watch.size() === 1, { timeout: 30_000 })
    await grace.keys.revoke(id)
    expect(JSON.parse((await waiting).content[0].text)).toMatchObject({ code: 'unauthenticated' })
  })
})
