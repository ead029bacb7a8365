import { Client as ModernClient, StreamableHTTPClientTransport as ModernTransport } from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { setUpService } from '../support/describe-service.ts'
import { innerState, startService, startThread } from '../support/service.ts'

const service = setUpService(() => startService('sqlite::memory:', { config: { assistant: { provider: 'echo' } } }))
let here: Awaited<ReturnType<typeof startThread>>
let key: string
beforeAll(async () => {
  here = await startThread(service)
  key = (await here.grace.keys.create({ name: 'agent' })).key
})

const init = () => ({ requestInit: { headers: { authorization: `Bearer ${key}` } } })

describe('the SDK of the revisions that begin with initialize', () => {
  async function connect() {
    const client = new Client({ name: 'test', version: '1' })
    const transport = new StreamableHTTPClientTransport(new URL(`${service.base_url}/mcp`), init())
    await client.connect(transport as never)
    onTestFinished(() => client.close())
    return client
  }

  it('connects, lists tools, and calls them with results of their schemas', async () => {
    const client = await connect()
    expect(client.getServerVersion()).toMatchObject({ name: 'chat-server' })
    const { tools } = await client.listTools()
    expect(tools).toHaveLength(12)
    const read = await client.callTool({ name: 'read_thread', arguments: { root_id: here.root.root_id } })
    expect(read.structuredContent).toMatchObject({ messages: [{ content: 'first', author: 'ada' }] })
    const waiting = client.callTool({ name: 'wait_for_messages', arguments: { after: 'now', seconds: 55 } })
    const posting = client.callTool({
      name: 'post_message',
      arguments: { parent_id: here.root.message_id, content: 'by the SDK' },
    })
    expect((await posting).isError).toBeFalsy()
    await here.ada.messages.reply(here.root.message_id, { content: 'awaited' })
    expect((await waiting).structuredContent).toMatchObject({ messages: [expect.anything()] })
    const asked = await client.callTool({
      name: 'ask_assistant',
      arguments: { parent_id: here.root.message_id, content: 'why?', seconds: 30 },
    })
    expect(asked.structuredContent).toMatchObject({ status: 'complete' })
    await expect(client.callTool({ name: 'nothing', arguments: {} })).rejects.toMatchObject({ code: -32602 })
  })

  it('reads resources', async () => {
    const client = await connect()
    const { resources } = await client.listResources()
    const { resourceTemplates } = await client.listResourceTemplates()
    expect(resourceTemplates).toHaveLength(3)
    const { contents } = await client.readResource({ uri: resources[0]!.uri })
    expect((contents[0] as { text: string }).text).toContain('> first')
    await expect(client.readResource({ uri: 'chat://nothing' })).rejects.toMatchObject({ code: -32002 })
    await client.ping()
  })
})

describe('the SDK of the revision 2026-07-28', () => {
  async function connect() {
    const client = new ModernClient({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } })
    await client.connect(new ModernTransport(new URL(`${service.base_url}/mcp`), init()))
    onTestFinished(() => client.close())
    return client
  }

  it('discovers the revision, lists tools, calls them and reads resources', async () => {
    const client = await connect()
    expect([client.getProtocolEra(), client.getNegotiatedProtocolVersion()]).toEqual(['modern', '2026-07-28'])
    const { tools } = await client.listTools()
    expect(tools).toHaveLength(12)
    const read = await client.callTool({ name: 'read_thread', arguments: { root_id: here.root.root_id } })
    expect(read.structuredContent).toMatchObject({ root_id: here.root.root_id })
    const { resources } = await client.listResources()
    const { contents } = await client.readResource({ uri: resources[0]!.uri })
    expect((contents[0] as { text: string }).text).toContain('> first')
    await expect(client.readResource({ uri: 'chat://nothing' })).rejects.toMatchObject({ code: -32602 })
    await expect(client.callTool({ name: 'post_message', arguments: { content: 'x' } })).rejects.toMatchObject({
      code: -32602,
    })
  })

  it('listens to changes of a resource, and closes', async () => {
    const client = await connect()
    const { resources } = await client.listResources()
    const updated: string[] = []
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => void updated.push(params.uri))
    const uri = resources[0]!.uri
    const subscription = await client.listen({ resourceSubscriptions: [uri, 'chat://nothing'] })
    expect(subscription.honoredFilter).toEqual({ resourceSubscriptions: [uri] })
    await here.ada.messages.reply(here.root.message_id, { content: 'news' })
    await vi.waitUntil(() => updated.includes(uri), { timeout: 30_000 })
    await subscription.close()
    await vi.waitUntil(() => innerState(service).streams.hub.countStreams(here.grace.id) === 0, { timeout: 30_000 })
  })
})
