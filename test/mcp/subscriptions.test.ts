import { afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { toUri } from '../../lib/mcp/resources/uri.ts'
import { createPace } from '../../lib/mcp/subscriptions/pace.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { describeService, setUpNodes, startNodes } from '../support/describe-service.ts'
import { callMcp, type McpOptions, type Rpc, readRpc, sendMcp } from '../support/mcp.ts'
import { innerState, startService, startThread, type TestService } from '../support/service.ts'

const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId'

/** An open stream of notifications. */
async function listen(service: Pick<TestService, 'base_url'>, resourceSubscriptions: string[], options: McpOptions) {
  const closing = new AbortController()
  const params = { notifications: { resourceSubscriptions } }
  const response = await sendMcp(service, 'subscriptions/listen', params, { ...options, signal: closing.signal })
  expect([response.status, response.headers.get('x-accel-buffering')]).toEqual([200, 'no'])
  const messages = readRpc(response)
  const next = async (): Promise<Rpc> => (await messages.next()).value
  onTestFinished(() => closing.abort())
  return { next, close: () => closing.abort(), agreed: await next() }
}

describe('the pace of notifications', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('sends at once, then once a second, and what was last', async () => {
    const sent: string[] = []
    const pace = createPace(1000, (key) => sent.push(key))
    for (let n = 0; n < 5; n++) pace.due('a')
    pace.due('b')
    expect(sent).toEqual(['a', 'b'])
    await vi.advanceTimersByTimeAsync(999)
    expect(sent).toEqual(['a', 'b'])
    await vi.advanceTimersByTimeAsync(1)
    expect(sent).toEqual(['a', 'b', 'a'])
    pace.due('a')
    await vi.advanceTimersByTimeAsync(1000)
    expect(sent).toEqual(['a', 'b', 'a', 'a'])
    await vi.advanceTimersByTimeAsync(5000)
    expect(sent).toHaveLength(4)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('sends what is due at the end, and nothing after the last of a key', () => {
    const sent: string[] = []
    const pace = createPace(1000, (key) => sent.push(key))
    for (const key of ['a', 'a', 'b', 'b']) pace.due(key)
    pace.last('b')
    pace.due('b')
    pace.last('b')
    expect(sent).toEqual(['a', 'b', 'b'])
    pace.end()
    expect([sent, vi.getTimerCount()]).toEqual([['a', 'b', 'b', 'a'], 0])
  })
})

describeService('subscriptions of MCP', (service) => {
  let here: Awaited<ReturnType<typeof startThread>>
  let ada: string
  let grace: string
  beforeAll(async () => {
    here = await startThread(service)
    ada = (await here.ada.keys.create({ name: 'agent' })).key
    grace = (await here.grace.keys.create({ name: 'agent' })).key
  })

  it('begin with what is agreed: what the user reads, with the id of the call in each message', async () => {
    const { conversation_id, root } = here
    const own = await here.ada.conversations.create({ title: 'Own' })
    const uris = [
      toUri({ conversation_id }),
      toUri({ conversation_id, root_id: root.root_id }),
      toUri({ conversation_id, message_id: root.message_id }),
    ]
    const unreadable = [
      toUri(own),
      toUri({ conversation_id, root_id: own.conversation_id }),
      'chat://nothing',
      'nonsense',
    ]
    const stream = await listen(service, [...uris, ...unreadable], { key: grace, id: 'sub-1' })
    expect(stream.agreed).toEqual({
      jsonrpc: '2.0',
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: { resourceSubscriptions: uris }, _meta: { [SUBSCRIPTION]: 'sub-1' } },
    })
    await here.ada.messages.edit(root.message_id, { content: 'edited' })
    const updated = [await stream.next(), await stream.next(), await stream.next()]
    expect(updated).toEqual(
      uris.map((uri) => ({
        jsonrpc: '2.0',
        method: 'notifications/resources/updated',
        params: { uri, _meta: { [SUBSCRIPTION]: 'sub-1' } },
      })),
    )
  })

  it('tell of a thread or a message only what is theirs', async () => {
    const { conversation_id } = here
    const one = await here.ada.messages.postRoot(conversation_id, { content: 'one' })
    const two = await here.ada.messages.postRoot(conversation_id, { content: 'two' })
    const reply = await here.ada.messages.reply(two.message_id, { content: 'reply' })
    const thread = toUri({ conversation_id, root_id: two.root_id })
    const message = toUri({ conversation_id, message_id: reply.message_id })
    const stream = await listen(service, [thread, message], { key: grace })
    await here.ada.reactions.add(one.message_id, '👍')
    await here.ada.messages.reply(one.message_id, { content: 'elsewhere' })
    await here.ada.reactions.add(two.message_id, '👍')
    expect((await stream.next()).params.uri).toBe(thread)
    await here.ada.reactions.add(reply.message_id, '👍')
    const both = [(await stream.next()).params.uri, (await stream.next()).params.uri]
    expect(both.sort()).toEqual([thread, message].sort())
  })

  it('tell of many events once a second, and of the last', async () => {
    const { conversation_id, root } = here
    const uri = toUri({ conversation_id })
    const stream = await listen(service, [uri], { key: grace })
    const begun = performance.now()
    for (let n = 0; n < 10; n++) await here.ada.messages.reply(root.message_id, { content: `${n}` })
    expect((await stream.next()).params.uri).toBe(uri)
    expect((await stream.next()).params.uri).toBe(uri)
    expect(performance.now() - begun).toBeGreaterThan(990)
  })

  it('tell of a removal once more, and of nothing after it', async () => {
    const { conversation_id } = here
    await here.ada.participants.add(conversation_id, { user_id: here.eve.id })
    const other = await here.eve.conversations.create({ title: 'Mine' })
    const eve = (await here.eve.keys.create({ name: 'agent' })).key
    const stream = await listen(service, [toUri({ conversation_id }), toUri(other)], { key: eve })
    await here.ada.participants.remove(conversation_id, here.eve.id)
    expect((await stream.next()).params.uri).toBe(toUri({ conversation_id }))
    await here.ada.messages.postRoot(conversation_id, { content: 'not for eve' })
    await here.ada.participants.add(conversation_id, { user_id: here.eve.id })
    await here.eve.messages.postRoot(other.conversation_id, { content: 'mine' })
    expect((await stream.next()).params.uri).toBe(toUri(other))
  })

  it('end with their result when the key is revoked', async () => {
    const { key, id } = await here.grace.keys.create({ name: 'short' })
    const stream = await listen(service, [], { key, id: 7 })
    expect(stream.agreed.params.notifications).toEqual({ resourceSubscriptions: [] })
    await here.grace.keys.revoke(id)
    expect(await stream.next()).toMatchObject({
      id: 7,
      result: { resultType: 'complete', _meta: { [SUBSCRIPTION]: 7 } },
    })
    expect(await stream.next()).toBeUndefined()
  })

  it('count as streams, and no longer once the client closes them', async () => {
    const { max_streams_per_user } = innerState(service).config.sse
    const eve = (await here.eve.keys.create({ name: 'agent' })).key
    const streams = []
    for (let n = 0; n < max_streams_per_user; n++) streams.push(await listen(service, [], { key: eve }))
    await service.idle()
    const refused = await sendMcp(service, 'subscriptions/listen', { notifications: {} }, { key: eve })
    const { error } = await refused.json()
    expect([refused.status, error.code, error.data.code]).toEqual([429, 429, 'too_many_streams'])
    expect(refused.headers.get('retry-after')).toBe(String(error.data.retry_after))
    for (const stream of streams) stream.close()
    await vi.waitUntil(
      () => service.nodes.every((node) => innerState(node).streams.hub.countStreams(here.eve.id) === 0),
      { timeout: 30_000 },
    )
  })

  it('are refused where they make no sense', async () => {
    const code = async (params: Record<string, unknown>, options: McpOptions = {}) => {
      const response = await sendMcp(service, 'subscriptions/listen', params, { key: ada, ...options })
      const { error } = await response.json()
      return [response.status, error.code]
    }
    expect(await code({})).toEqual([200, -32602])
    expect(await code({ notifications: { resourceSubscriptions: 'chat://x' } })).toEqual([200, -32602])
    expect(await code({ notifications: { resourceSubscriptions: [7] } })).toEqual([200, -32602])
    const many = Array.from({ length: 51 }, (_, n) => `chat://${n}`)
    expect(await code({ notifications: { resourceSubscriptions: many } })).toEqual([200, -32602])
    expect(await code({ notifications: { taskIds: [] } })).toEqual([400, -32021])
    expect(await code({ notifications: {} }, { legacy: '2025-11-25' })).toEqual([200, -32601])
    expect(await code({ notifications: {} }, { headers: { accept: 'application/json' } })).toEqual([406, 406])
    for (const node of service.nodes) expect(innerState(node).streams.hub.countStreams(here.ada.id)).toBe(0)
  })

  it('may be at an address of the application', async () => {
    const actor = await service.chat.users.actor(here.grace.id)
    const { mcpBody, mcpHeaders } = await import('../support/mcp.ts')
    const params = { notifications: { resourceSubscriptions: [toUri(here)] } }
    const response = await service.chat.mcp.handle(
      new Request('http://localhost/agents', {
        method: 'POST',
        headers: mcpHeaders('subscriptions/listen'),
        body: JSON.stringify(mcpBody('subscriptions/listen', params)),
      }),
      actor,
    )
    const messages = readRpc(response)
    expect((await messages.next()).value.method).toBe('notifications/subscriptions/acknowledged')
    await here.ada.messages.reply(here.root.message_id, { content: 'news' })
    expect((await messages.next()).value.params.uri).toBe(toUri(here))
    await messages.return(undefined)
    await vi.waitUntil(() => innerState(service).streams.hub.countStreams(here.grace.id) === 0, { timeout: 30_000 })
  })
})

describe('a service that drains', () => {
  it('ends subscriptions with their result, after what is due', async () => {
    const service = await startService('sqlite::memory:')
    onTestFinished(() => service.close())
    const { ada, conversation_id, root } = await startThread(service)
    const { key } = await ada.keys.create({ name: 'agent' })
    const stream = await listen(service, [toUri({ conversation_id })], { key })
    for (let n = 0; n < 3; n++) await ada.messages.reply(root.message_id, { content: `${n}` })
    expect((await stream.next()).method).toBe('notifications/resources/updated')
    await service.idle()
    service.chat.drain()
    expect((await stream.next()).method).toBe('notifications/resources/updated')
    expect(await stream.next()).toMatchObject({ id: 1, result: { resultType: 'complete' } })
    expect(await stream.next()).toBeUndefined()
    expect((await callMcp(service, 'subscriptions/listen', { notifications: {} }, { key })).error.data.code).toBe(
      'unavailable',
    )
  })
})

describeOnEachDatabase('subscriptions on two nodes', (openUrl) => {
  const [one, other] = setUpNodes(async () => startNodes(await openUrl()))

  it('tell of what another node has stored', async () => {
    const { ada, conversation_id, root } = await startThread(one)
    const { key } = await ada.keys.create({ name: 'agent' })
    const stream = await listen(other, [toUri({ conversation_id })], { key })
    await ada.messages.reply(root.message_id, { content: 'from one' })
    expect((await stream.next()).params.uri).toBe(toUri({ conversation_id }))
  })

  it('tell once more of a conversation that is deleted, on every node', async () => {
    const { ada, grace, conversation_id, root } = await startThread(one)
    const { key } = await grace.keys.create({ name: 'agent' })
    const own = await grace.conversations.create({ title: 'Own' })
    const uris = [toUri({ conversation_id }), toUri({ conversation_id, root_id: root.root_id })]
    const streams = [await listen(one, [...uris, toUri(own)], { key }), await listen(other, uris, { key })]
    await ada.conversations.remove(conversation_id)
    for (const stream of streams)
      expect([(await stream.next()).params.uri, (await stream.next()).params.uri]).toEqual(uris)
    await grace.messages.postRoot(own.conversation_id, { content: 'mine' })
    expect((await streams[0]!.next()).params.uri).toBe(toUri(own))
  })
})
