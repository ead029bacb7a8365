import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { get as httpGet, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest'
import { createTools } from '../../lib/assistant/tools/create.ts'
import { createChatClient } from '../../lib/client/index.ts'
import { createChatService, OPERATOR, openStorage, parseConfig, ToolFailure } from '../../lib/index.ts'
import { createPostgresDatabase } from '../support/databases.ts'
import { start } from '../support/example.ts'
import { textOf } from '../support/pages.ts'
import { innerState, startService, startThread } from '../support/service.ts'

const PASSWORD = 'correct horse battery'

/** The schema that the guide shows. */
function refundSchema(): string {
  const [, schema] = /^```json\n(\{\n {2}"type": "object".*?)^```/ms.exec(textOf('docs/guides/tools.md'))!
  return schema!
}

describe('an example', () => {
  it('embeds the chat in a server of node:http, whose own pages know the signed-in user', async () => {
    const host = start('embed-node.ts')
    const url = await host.printed(/http:\/\/[\d.:]+/)
    expect(await ask(`${url}/nothing`)).toEqual([404, 'The host has no such page.\n'])
    expect(await ask(`${url}/hello`)).toEqual([401, 'Sign in first.\n'])
    expect(await ask(`${url}/chat/healthz`)).toEqual([200, '{"status":"ok"}'])
    expect((await ask(`${url}/chatter`))[0]).toBe(404)

    const login = await fetch(`${url}/chat/api/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'ada@example.org', password: PASSWORD }),
    })
    const cookie = login.headers.getSetCookie().join('; ')
    expect(await ask(`${url}/hello`, { cookie })).toEqual([200, 'Hello ada.\n'])
    expect(await host.stop()).toBe(0)
  })

  it('is a part of an h3 app, behind its middleware, and its client', async () => {
    const host = start('embed-h3.ts')
    const url = await host.printed(/http:\/\/[\d.:]+/)
    expect(await ask(`${url}/`)).toEqual([200, 'Hello from the host.\n'])
    // As the client finds it: a service that is not set up.
    const client = start('client.ts', `${url}/chat`)
    expect(await client.end).toBe(0)
    expect(client.output()).toBe('Signed in as ada.\nloaded:  Does it run?\narrived: It runs.\n')
    expect(host.output()).toContain('\nPOST /chat/api/auth/login\n')
    expect(await host.stop()).toBe(0)
  })

  it('moves a chat that an application wrote itself, with its times, and once', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'chat-import-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const database = `sqlite:${join(folder, 'chat.db')}`
    for (const time of ['first', 'second']) {
      const moving = start('import-chat.ts', database)
      expect(await moving.end, time).toBe(0)
      expect(moving.output()).toBe('2 users, 1 rooms and 3 messages are in the chat.\n')
    }
    const chat = createChatService(parseConfig(), await openStorage({ database }))
    onTestFinished(() => chat.close())
    await chat.start({ background: false })
    const grace = await chat.users.actorOf('2')
    const [room] = (await chat.conversations.list(grace, { ref: 'room-7' })).conversations
    expect(room).toMatchObject({ title: 'Engines', unread: 0, participant_count: 2 })
    const { threads } = await chat.threads.list(grace, room!.id)
    expect(threads.map((thread) => thread.root_excerpt)).toEqual(['Lunch?', 'Does it run?'])
    const { messages } = await chat.threads.tree(grace, threads[1]!.root_id)
    expect(messages.map(({ content, created_at }) => [content, created_at])).toEqual([
      ['Does it run?', '2024-05-01T10:00:00.000000Z'],
      ['It runs.', '2024-05-01T10:05:00.000000Z'],
    ])
  })

  it('is an agent over MCP, which waits without polling and survives its restart', async () => {
    const service = await startService('sqlite::memory:')
    onTestFinished(() => service.close())
    const { ada, grace, conversation_id } = await startThread(service)
    const folder = await mkdtemp(join(tmpdir(), 'chat-agent-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const [key, position] = [join(folder, 'key.txt'), join(folder, 'position.txt')]
    await writeFile(key, (await grace.keys.create({ name: 'agent' })).key)
    const agent = () => start('mcp-agent.ts', `${service.base_url}/mcp`, key, position)
    const replies = async () => {
      const { messages } = await ada.messages.list(conversation_id, { view: 'all' })
      return messages.filter(({ author_user_id }) => author_user_id === grace.id).map(({ content }) => content)
    }

    const first = agent()
    await first.printed(/Waiting from now/)
    await vi.waitUntil(() => innerState(service).streams.hub.watch.size() === 1, { timeout: 30_000 })
    await ada.messages.postRoot(conversation_id, { content: 'Does it run?' })
    await first.printed(/Replied to ada/)
    await vi.waitUntil(() => innerState(service).streams.hub.watch.size() === 1, { timeout: 30_000 })
    await first.stop()
    await ada.messages.postRoot(conversation_id, { content: 'Still there?' })
    await ada.messages.postRoot(conversation_id, { content: 'No question.' })
    const second = agent()
    await second.printed(/Waiting from where it stopped[\s\S]*Replied to ada/)
    expect(await replies()).toEqual(['Good question, ada.', 'Good question, ada.'])
    await second.stop()
  })

  it('is a bot of the Chat SDK, which answers with streams, and goes on after its restart', async () => {
    const service = await startService('sqlite::memory:')
    onTestFinished(() => service.close())
    const { ada, conversation_id } = await startThread(service)
    const { bot, key } = await ada.bots.create({ username: 'counter' })
    await ada.participants.add(conversation_id, { user_id: bot.id })
    const folder = await mkdtemp(join(tmpdir(), 'chat-bot-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    await writeFile(join(folder, 'key.txt'), key)
    const startBot = () => start('chat-sdk-bot.ts', service.base_url, join(folder, 'key.txt'), join(folder, 'bot.db'))
    const texts = async () => {
      const { messages } = await ada.messages.list(conversation_id, { view: 'all' })
      return messages.map(({ content, status }) => `${content} (${status})`).slice(1)
    }

    const first = startBot()
    await first.printed(/Waiting for commands/)
    await vi.waitUntil(() => innerState(service).streams.hub.watch.size() === 1, { timeout: 30_000 })
    await ada.commands.invoke(conversation_id, { bot_id: bot.id, name: 'count', options: { to: 4 } })
    await expect.poll(texts).toEqual(['1 2 3 4  (complete)'])
    expect(await first.stop()).toBe(0)
    const { root_id } = await ada.messages.postRoot(conversation_id, { content: 'Count, @counter' })
    const second = startBot()
    await expect.poll(async () => (await texts()).slice(1)).toEqual(['Count, @counter (complete)', '1 2 3  (complete)'])
    expect((await ada.threads.messages(root_id)).messages).toMatchObject([{ author_user_id: bot.id }])
    expect(await second.stop()).toBe(0)
  })

  it('is a tool over HTTP, which pays an order back once for each call', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'chat-tool-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const schema_file = join(folder, 'refund.json')
    await writeFile(schema_file, refundSchema())
    const shop = start('refund-server.ts', join(folder, 'shop.db'))
    const url = await shop.printed(/http:\/\/\S+/)
    const toolWith = (key: string) => {
      const headers = [`Authorization: Bearer ${key}`]
      const tools = { refund: { url, headers, schema_file, description: 'Pays an order back' } }
      return createTools(parseConfig({ tools }), {}).get('refund')!
    }
    const place = { conversation_id: 'c', message_id: 'm', assistant: 'assistant', actor: OPERATOR }
    const call = (call_id: string, input: object, key = 'secret') =>
      toolWith(key).run(input, {
        ...{ ...place, call_id, attempt: 1, signal: new AbortController().signal },
        user: { id: 'u', username: 'ada', subject: 'ada-7' },
      })
    expect(await toolWith('secret').validate({ order: 'A-1001', cents: 0 })).toHaveProperty('issues')
    const input = { order: 'A-1001', cents: 3000 }
    expect((await toolWith('secret').validate(input)).issues).toBeUndefined()
    for (const time of ['first', 'again'])
      expect((await call('call-1', input)).output, time).toEqual({ ...input, left: 2000 })
    await expect(call('call-2', input)).rejects.toThrow(
      new ToolFailure('Of order A-1001, 2000 cents can be paid back.'),
    )
    await expect(call('call-3', { ...input, order: 'A-1' })).rejects.toThrow('There is no order A-1.')
    await expect(call('call-4', input, 'wrong')).rejects.toThrow('The shop does not know this caller.')
    expect(await shop.stop()).toBe(0)
  })

  it('is a tool in its process, which pays an order back once it was approved', async () => {
    const shop = start('refund-tool.ts')
    expect(await shop.end).toBe(0)
    expect(shop.output().trim().split('\n')).toEqual([
      'Paid back: {"order":"A-1001","cents":500,"left":4500}',
      'Refund waits for Grace.',
      'Paid back: {"order":"A-1001","cents":4000,"left":500}',
      'Refund waits for Grace.',
      'Not paid back: Of order A-1001, 500 cents can be paid back.',
      'Not paid back: There is no order A-1.',
      '2 refunds',
    ])
  })

  it('ends its streams when its host ends', async () => {
    const host = start('embed-node.ts')
    const base_url = `${await host.printed(/http:\/\/[\d.:]+/)}/chat`
    const ada = createChatClient({ base_url })
    await ada.auth.login({ email: 'ada@example.org', password: PASSWORD })
    const { conversation_id } = await ada.conversations.create()
    const seen: string[] = []
    for await (const { event } of ada.events.follow(conversation_id)) {
      seen.push(event.type === 'stream.closed' ? event.payload.reason : event.type)
      if (event.type === 'stream.ready') expect(await host.stop()).toBe(0)
      if (event.type === 'stream.closed') break
    }
    expect(seen).toEqual(['stream.ready', 'draining'])
  })

  it('follows a conversation without HTTP, disconnects, and misses nothing', async () => {
    const follow = start('follow.ts')
    expect(await follow.end).toBe(0)
    expect(follow.output().trimEnd().split('\n')).toEqual([
      'Grace finds 0 threads.',
      '  ready, resumed: true',
      '  new message: first',
      'Grace goes away.',
      'Grace comes back.',
      '  ready, resumed: true',
      '  new message: second',
      '  new message: third',
    ])
  })

  it('notifies people by the push service of the host, and by mail', async () => {
    const notify = start('notify.ts')
    expect(await notify.end).toBe(0)
    const lines = notify.output().split('\n')
    expect(lines.filter((line) => line.startsWith('push to')).sort()).toEqual([
      'push to grace-7: added ',
      'push to grace-7: mention @grace @linus Does it run?',
    ])
    expect(lines.filter((line) => line.startsWith('ada ')).sort()).toEqual([
      'ada added you to a conversation:',
      'ada mentioned you:',
    ])
    expect(lines.filter((line) => line === 'mail to linus@example.org:')).toHaveLength(2)
  })

  it.skipIf(!inject('postgres_url'))('shares a port among processes, each a node of one chat', async () => {
    const { url: database, remove } = await createPostgresDatabase()
    const host = start('embed-cluster.ts', database)
    const base_url = await host.printed(/http:\/\/[\d.]+:\d+/)
    await host.printed(/(?:Worker \d .*\s+){2}/)
    const ada = createChatClient({ base_url })
    await ada.setup.run({ email: 'ada@example.org', password: PASSWORD })
    await ada.auth.login({ email: 'ada@example.org', password: PASSWORD })
    const { conversation_id } = await ada.conversations.create()
    // Each on a connection of its own, and so on either worker.
    const ends = [1, 2, 3, 4].map(async () => {
      const seen: string[] = []
      for await (const { event } of ada.events.follow(conversation_id)) {
        seen.push(event.type)
        if (event.type === 'stream.ready') await ada.messages.postRoot(conversation_id, { content: 'hello' })
        if (seen.filter((type) => type === 'message.new').length === 1) break
      }
    })
    await Promise.all(ends)
    expect(await host.stop()).toBe(0)
    await remove()
  })

  it.skipIf(!inject('postgres_url'))(
    'opens a chat for each customer on one pool, and closes those out of use',
    async () => {
      const { url: database, remove } = await createPostgresDatabase()
      const host = start('tenants.ts', database, 'red,blue,green', '2')
      const port = (await host.printed(/localhost:\d+/)).split(':')[1]
      const get = async (name: string) => {
        const request = httpGet({ port, host: '127.0.0.1', path: '/healthz', headers: { host: `${name}.localhost` } })
        const [response] = (await once(request, 'response')) as [IncomingMessage]
        response.resume()
        await once(response, 'end')
        return response.statusCode
      }
      expect(await Promise.all(['red', 'blue', 'red', 'unknown'].map(get))).toEqual([200, 200, 200, 404])
      expect(await get('green')).toBe(200)
      await host.printed(/Closed (red|blue)\./)
      expect(await Promise.all(['red', 'blue', 'green'].map(get))).toEqual([200, 200, 200])
      expect(await host.stop()).toBe(0)
      await remove()
    },
  )

  it('serves a page and the chat that the page uses', async () => {
    const host = start('browser/server.ts')
    const url = await host.printed(/http:\S+/)
    const [status, page] = await ask(url)
    expect(status).toBe(200)
    expect(page).toContain('<title>Chat</title>')
    expect((await ask(new URL('/elsewhere', url).href))[0]).toBe(404)
    expect(await host.stop()).toBe(0)
  })
})

async function ask(url: string, headers: Record<string, string> = {}): Promise<[status: number, body: string]> {
  const response = await fetch(url, { headers })
  return [response.status, await response.text()]
}
