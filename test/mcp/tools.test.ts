import { Validator } from '@cfworker/json-schema'
import { toJsonSchema } from '@valibot/to-json-schema'
import { beforeAll, expect, it } from 'vitest'
import { Message } from '../../lib/chat/messages/schema.ts'
import { describeService } from '../support/describe-service.ts'
import { NO_LEVELS } from '../support/levels.ts'
import { callMcp, callMcpTool, type Rpc } from '../support/mcp.ts'
import { innerState, startThread } from '../support/service.ts'

const KIB = 1024

describeService('the tools of MCP', (service) => {
  let here: Awaited<ReturnType<typeof startThread>>
  let ada: string
  let grace: string
  let eve: string
  let reader: string
  const validators = new Map<string, Validator>()
  beforeAll(async () => {
    here = await startThread(service)
    const keyOf = async (person: typeof here.ada) => (await person.keys.create({ name: 'agent' })).key
    ada = await keyOf(here.ada)
    grace = await keyOf(here.grace)
    eve = await keyOf(here.eve)
    reader = await keyOf(await service.signIn('reader', ['read_only']))
    for (const { name, outputSchema } of (await listTools(ada)).tools)
      validators.set(name, new Validator(outputSchema, '2020-12'))
  })

  const listTools = async (key: string) => (await callMcp(service, 'tools/list', {}, { key })).result

  /** The value of a result, which is as its schema says, and is the same as text. */
  async function call(key: string, name: string, args: object = {}): Promise<Rpc> {
    const { content, structuredContent, isError } = await callMcpTool(service, key, name, args)
    expect([content[0], isError]).toEqual([{ type: 'text', text: JSON.stringify(structuredContent) }, undefined])
    expect(validators.get(name)!.validate(structuredContent)).toEqual({ valid: true, errors: [] })
    expect(Buffer.byteLength(content[0].text)).toBeLessThanOrEqual(60 * KIB)
    return structuredContent
  }

  /** The failure of a tool, as a model reads it. */
  async function refusal(key: string, name: string, args: object = {}): Promise<Rpc> {
    const { content, structuredContent, isError } = await callMcpTool(service, key, name, args)
    expect([content.length, structuredContent, isError]).toEqual([1, undefined, true])
    return JSON.parse(content[0].text)
  }

  it('are listed in at most 20 KiB, and the same list in bytes for equal rights', async () => {
    const lists = await Promise.all([listTools(ada), listTools(grace), listTools(grace)])
    const [first, ...others] = lists.map(({ tools }) => JSON.stringify(tools))
    expect(others).toEqual([first, first])
    expect(Buffer.byteLength(first!)).toBeLessThanOrEqual(20 * KIB)
    for (const { inputSchema, outputSchema, annotations, description } of lists[0].tools) {
      expect([inputSchema.type, outputSchema.type]).toEqual(['object', 'object'])
      expect(annotations.openWorldHint).toBe(false)
      expect(annotations).toMatchObject({ destructiveHint: false, idempotentHint: expect.any(Boolean) })
      if (annotations.readOnlyHint) expect(annotations.idempotentHint).toBe(true)
      expect(description.length).toBeGreaterThan(20)
    }
  })

  it('are only those that read for a user who may not write', async () => {
    const { tools } = await listTools(reader)
    expect(tools.every(({ annotations }: Rpc) => annotations.readOnlyHint)).toBe(true)
    expect(tools.map(({ name }: Rpc) => name)).toContain('read_thread')
  })

  it('refuse an unknown tool and wrong arguments with the fields that are wrong', async () => {
    const code = (name: string, args?: unknown) =>
      callMcp(service, 'tools/call', { name, ...(args !== undefined && { arguments: args }) }, { key: ada }).then(
        ({ error }) => [error?.code, error?.data?.errors?.map(({ path }: Rpc) => path)],
      )
    expect(await code('delete_everything')).toEqual([-32602, undefined])
    expect(await code('toString')).toEqual([-32602, undefined])
    expect(await code('read_thread')).toEqual([-32602, ['root_id']])
    expect(await code('read_thread', { root_id: 7 })).toEqual([-32602, ['root_id']])
    expect(await code('read_thread', { root_id: 'x' })).toEqual([-32602, ['root_id']])
    expect(await code('list_threads', { conversation_id: here.conversation_id, limit: 0 })).toEqual([-32602, ['limit']])
    expect(await code('list_threads', [])).toEqual([-32602, undefined])
    expect(await code('post_message', { content: 'x' })).toEqual([-32602, undefined])
    const both = { conversation_id: here.conversation_id, parent_id: here.root.message_id, content: 'x' }
    expect(await code('post_message', both)).toEqual([-32602, undefined])
    expect(await code('post_message', { parent_id: here.root.message_id, title: 'x', content: 'x' })).toEqual([
      -32602,
      undefined,
    ])
  })

  it('list conversations and threads, page by page, with the position behind them', async () => {
    await here.ada.conversations.create({ title: 'Second' })
    const first = await call(ada, 'list_conversations', { limit: 1 })
    const second = await call(ada, 'list_conversations', { limit: 1, after: first.next_after })
    expect([...first.conversations, ...second.conversations].map(({ title }: Rpc) => title)).toEqual([
      'Second',
      'Engines',
    ])
    const { position } = await service.chat.feed.read(await service.chat.users.actor(here.ada.id))
    expect(first.after.split('.')[0]).toBe(position.split('.')[0])
    const threads = await call(grace, 'list_threads', { conversation_id: here.conversation_id })
    expect(threads.threads.map(({ root_excerpt }: Rpc) => root_excerpt)).toEqual(['first'])
    const { stream_position } = await here.grace.threads.list(here.conversation_id)
    expect(threads.after).toBe(stream_position)
  })

  it('link to the threads of a list', async () => {
    const { content } = await callMcpTool(service, ada, 'list_threads', { conversation_id: here.conversation_id })
    const uri = `chat://conversations/${here.conversation_id}/threads/${here.root.root_id}`
    expect(content[1]).toEqual({ type: 'resource_link', uri, name: 'first', mimeType: 'text/markdown' })
  })

  it('read a thread with the names of its authors, and messages as the HTTP API has them', async () => {
    const value = await call(grace, 'read_thread', { root_id: here.root.root_id })
    const { messages, stream_position } = await here.grace.threads.tree(here.root.root_id)
    expect(value.messages.map(({ author: _, ...message }: Rpc) => message)).toEqual(messages)
    expect([value.messages[0].author, value.after]).toEqual(['ada', stream_position])
    const shape = new Validator(toJsonSchema(Message, { errorMode: 'ignore' }) as object, '2020-12')
    expect(shape.validate(messages[0]).errors).toEqual([])
  })

  it('read a thread of long messages in parts of at most 60 KiB, of which none is lost', async () => {
    const { conversation_id } = await here.ada.conversations.create({ title: 'Long' })
    const { root_id } = await here.ada.messages.postRoot(conversation_id, { content: '"'.repeat(65_000) })
    for (let n = 0; n < 5; n++) await here.ada.messages.reply(root_id, { content: `${n} ${'ü'.repeat(10_000)}` })
    const read: Rpc[] = []
    for (let cursor: string | undefined, pages = 0; pages < 10; pages++) {
      const page = await call(ada, 'read_thread', { root_id, ...(cursor && { cursor }) })
      read.push(...page.messages)
      cursor = page.next_cursor
      if (!cursor) break
    }
    expect(read.map(({ content }) => content.slice(0, 1))).toEqual(['"', '0', '1', '2', '3', '4'])
    expect(read[0].cut).toBeGreaterThan(50_000)
    expect(read.slice(1).map(({ cut, content }) => [cut, content.length])).toEqual(Array(5).fill([undefined, 10_002]))
  })

  it('search messages, and cut long ones', async () => {
    const { conversation_id } = await here.ada.conversations.create({ title: 'Searched' })
    for (let n = 0; n < 12; n++)
      await here.ada.messages.postRoot(conversation_id, { content: `needle${n} haystack ${'x '.repeat(10_000)}` })
    const page = await call(ada, 'search_messages', { q: 'haystack', limit: 12 })
    expect(page.results).toHaveLength(12)
    expect(page.results[0]).toMatchObject({
      conversation: { title: 'Searched' },
      message: { author: 'ada', cut: expect.any(Number) },
    })
    expect((await call(eve, 'search_messages', { q: 'haystack' })).results).toEqual([])
  })

  it('find users, and list notifications', async () => {
    const { users } = await call(ada, 'find_users', { query: 'gra' })
    expect(users).toMatchObject([{ id: here.grace.id, username: 'grace' }])
    await call(ada, 'post_message', { conversation_id: here.conversation_id, content: 'look, @grace' })
    const { notifications, unread } = await call(grace, 'list_notifications', { unread: true })
    expect(unread).toBe(notifications.length)
    expect(notifications[0]).toMatchObject({ kind: 'mention', conversation_id: here.conversation_id })
  })

  it('return with each list the position from which a wait misses nothing', async () => {
    const { conversation_id } = here
    const lists = [
      await call(grace, 'list_conversations'),
      await call(grace, 'list_threads', { conversation_id }),
      await call(grace, 'read_thread', { root_id: here.root.root_id }),
      await call(grace, 'search_messages', { q: 'first' }),
      await call(grace, 'find_users', { query: 'ada' }),
      await call(grace, 'list_notifications'),
    ]
    const post = await here.ada.messages.postRoot(conversation_id, { content: 'since then' })
    for (const { after } of lists) {
      const { messages } = await call(grace, 'wait_for_messages', { conversation_id, after, seconds: 1 })
      expect(messages.map(({ id }: Rpc) => id)).toEqual([post.message_id])
    }
  })

  it('post roots with a title and replies, once with a key, and mark as read', async () => {
    const post = {
      conversation_id: here.conversation_id,
      content: 'from an agent',
      title: 'Report',
      idempotency_key: 'k1',
    }
    const root = await call(ada, 'post_message', post)
    expect((await call(ada, 'post_message', post)).message_id).toBe(root.message_id)
    expect(await refusal(ada, 'post_message', { ...post, content: 'another' })).toMatchObject({
      code: 'idempotency_mismatch',
    })
    const reply = await call(grace, 'post_message', { parent_id: root.message_id, content: 'thanks' })
    const tree = await here.ada.threads.tree(root.root_id)
    expect([tree.title, tree.messages.map(({ content }) => content)]).toEqual(['Report', ['from an agent', 'thanks']])
    const unread = async () =>
      (await here.ada.threads.unread(here.conversation_id)).threads.find(({ root_id }) => root_id === root.root_id)
        ?.unread
    expect(await unread()).toBe(1)
    await call(ada, 'mark_read', { root_id: root.root_id, message_id: reply.message_id })
    expect(await unread()).toBeUndefined()
  })

  it('give no more than the HTTP API: what is not the caller’s is not found, and a viewer may not post', async () => {
    const { conversation_id, root } = here
    expect(await refusal(eve, 'read_thread', { root_id: root.root_id })).toMatchObject({ code: 'not_found' })
    expect(await refusal(eve, 'list_threads', { conversation_id })).toMatchObject({ code: 'not_found' })
    expect(await refusal(eve, 'post_message', { conversation_id, content: 'x' })).toMatchObject({ code: 'not_found' })
    const viewer = await service.signIn('viewer')
    await here.ada.participants.add(conversation_id, { user_id: viewer.id, role: 'viewer' })
    const { key } = await viewer.keys.create({ name: 'agent' })
    expect(await refusal(key, 'post_message', { conversation_id, content: 'x' })).toMatchObject({
      code: 'forbidden',
      reason: 'participant_role',
      detail: expect.any(String),
    })
    expect(await refusal(ada, 'read_thread', { root_id: root.root_id, cursor: 'no path' })).toMatchObject({
      code: 'invalid_cursor',
    })
  })

  it('count against the limit of the route that they stand for', async () => {
    const { id } = await here.ada.limits.createProfile({
      name: 'slow',
      params: { requests_per_second: 0.001, burst: 1 },
    })
    const assigned = await here.ada.limits.createAssignment({
      profile_id: id,
      method: 'GET',
      path: '/api/threads/{root_id}/tree',
    })
    try {
      await call(grace, 'read_thread', { root_id: here.root.root_id })
      expect(await refusal(grace, 'read_thread', { root_id: here.root.root_id })).toMatchObject({
        code: 'rate_limited',
        retry_after: expect.any(Number),
      })
      await call(grace, 'list_threads', { conversation_id: here.conversation_id })
    } finally {
      await here.ada.limits.deleteAssignment(assigned.id)
    }
  })

  it('count their calls by outcome', async () => {
    const series = async (outcome: string) => {
      const text = await innerState(service).metrics.render(() => NO_LEVELS)
      return Number(
        new RegExp(`chat_mcp_calls_total\\{tool="list_threads",outcome="${outcome}"\\} (\\d+)`).exec(text)![1],
      )
    }
    const before = [await series('ok'), await series('refused')]
    await call(ada, 'list_threads', { conversation_id: here.conversation_id })
    await refusal(eve, 'list_threads', { conversation_id: here.conversation_id })
    expect([await series('ok'), await series('refused')]).toEqual([before[0]! + 1, before[1]! + 1])
  })
})
