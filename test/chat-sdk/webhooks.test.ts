import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  createMockChatInstance,
  createMockLogger,
  matchers,
  selfMessageContract,
  threadIdContract,
} from '@chat-adapter/tests'
import type { Adapter, WebhookOptions } from 'chat'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createChatServerAdapter } from '../../lib/chat-sdk/index.ts'
import type { ChatClient } from '../../lib/client/index.ts'
import type { ReceiveStore } from '../../lib/receive/index.ts'
import { callOf, openStore, SECRET } from '../receive/stores.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { startService } from '../support/service.ts'
import { webhooksTo } from '../support/webhook-receiver.ts'
import { startBot, startPlace, textsOf } from './bots.ts'

expect.extend(matchers)

const ME = '01980a3c-6f00-7a10-8b20-0c4f1d2e3a41'
const ADA = '01980a3c-6f01-7a10-8b20-0c4f1d2e3a42'
const CONVERSATION = '01980a3c-7000-7a10-8b20-0c4f1d2e3a43'
const ROOT = '01980a3c-8000-7a10-8b20-0c4f1d2e3a44'

/** A client of a bot that knows Ada, and a conversation. */
const KNOWING = {
  auth: { me: async () => ({ user: { id: ME, username: 'helper' } }) },
  users: { search: async () => ({ users: [{ id: ADA, username: 'ada', kind: 'person' }] }) },
  conversations: { get: async () => ({}) },
  feed: { read: async () => ({}) },
} as unknown as ChatClient

let events = 0

function eventBy(author_user_id: string, changes: object = {}) {
  const message = {
    ...{ id: ROOT, conversation_id: CONVERSATION, root_id: ROOT, author_user_id, role: 'user', content: 'Hello' },
    ...{ path: '10', depth: 0, status: 'complete', created_at: '2026-01-01T00:00:00.000000Z', ...changes },
  }
  return { id: `evt_${events++}`, type: 'message.new', timestamp: message.created_at, data: { message } }
}

/** An adapter that has begun, and waits for its handlers as a function of a cloud does. */
async function begun(client: ChatClient = KNOWING, store?: ReceiveStore<unknown>) {
  const opened = await openStore('sqlite::memory:')
  onTestFinished(() => opened.close())
  const adapter = createChatServerAdapter({ client, store: store ?? opened.store, secrets: SECRET })
  const chat = createMockChatInstance({ logger: createMockLogger() })
  await adapter.initialize(chat)
  async function handleWebhook(request: Request, webhook?: WebhookOptions): Promise<Response> {
    const tasks: Promise<unknown>[] = []
    const response = await adapter.handleWebhook(request, { waitUntil: (task) => tasks.push(task), ...webhook })
    await Promise.all(tasks)
    return response
  }
  return { adapter: { ...adapter, handleWebhook } as Adapter, chat }
}

selfMessageContract({
  name: 'chatserver',
  setup: () => begun(),
  makeOtherMessageRequest: () => callOf(eventBy(ADA)),
  makeSelfMessageRequest: () => callOf(eventBy(ME)),
})

describe('thread ids', () => {
  const { encodeThreadId, decodeThreadId, isDM, channelIdFromThreadId } = createChatServerAdapter({
    ...{ client: KNOWING, store: { apply() {} } as never, name: 'chatserver' },
  })
  threadIdContract({
    name: 'chatserver',
    encode: encodeThreadId,
    decode: decodeThreadId,
    cases: [
      { decoded: { conversation_id: 'c', root_id: 'r' }, encoded: 'chatserver:c:r' },
      { decoded: { conversation_id: 'c' }, encoded: 'chatserver:c' },
      { decoded: { conversation_id: 'c', root_id: 'r', direct: true }, encoded: 'chatserver:direct.c:r' },
    ],
    isDM: { fn: isDM!, dmThreadId: 'chatserver:direct.c', nonDmThreadId: 'chatserver:c:r' },
  })

  it('lead to their channel, and those of others are refused', () => {
    expect(channelIdFromThreadId('chatserver:direct.c:r')).toBe('chatserver:direct.c')
    for (const id of [
      'slack:C1:1',
      'chatserver',
      'chatserver:',
      'chatserver:direct.',
      'chatserver:c:',
      'chatserver:c:r:x',
    ])
      expect(() => decodeThreadId(id), id).toThrow(`"${id}" is no thread id`)
  })
})

describe('a call of a webhook', () => {
  it('is refused unless its sender is proven, and before it is handed over', async () => {
    const { adapter, chat } = await begun()
    const other = `whsec_${Buffer.alloc(32, 1).toString('base64')}`
    for (const signing of [{ secret: other }, { timestamp: 1 }])
      expect((await adapter.handleWebhook(callOf(eventBy(ADA), signing))).status).toBe(401)
    expect(chat).not.toHaveDispatched('processMessage')
  })

  it('hands a message over when it is complete, and once', async () => {
    const { adapter, chat } = await begun()
    const event = eventBy(ADA)
    for (const each of [eventBy(ADA, { status: 'streaming', content: '' }), event, event])
      expect((await adapter.handleWebhook(callOf(each))).status).toBe(200)
    expect(chat.processMessage).toHaveBeenCalledOnce()
  })

  it('echoes a challenge', async () => {
    const { adapter } = await begun()
    const challenge = { id: 'evt_c', type: 'webhook.challenge', timestamp: '', data: { challenge: 'c-1' } }
    expect(await (await adapter.handleWebhook(callOf(challenge))).json()).toEqual({ challenge: 'c-1' })
  })

  it('is refused while the service does not say what it is about, and handed over when it comes again', async () => {
    const answers = [() => Promise.reject(new TypeError('fetch failed')), async () => ({})]
    const get = () => answers.shift()!()
    const { adapter, chat } = await begun({ ...KNOWING, conversations: { get } } as unknown as ChatClient)
    const event = eventBy(ADA)
    expect((await adapter.handleWebhook(callOf(event))).status).toBe(500)
    expect(chat).not.toHaveDispatched('processMessage')
    expect((await adapter.handleWebhook(callOf(event))).status).toBe(200)
    expect(chat.processMessage).toHaveBeenCalledOnce()
  })

  it('is logged where it can never be handed over', async () => {
    const get = () => Promise.reject(Object.assign(new Error('gone'), { code: 'not_found' }))
    const { adapter, chat } = await begun({ ...KNOWING, conversations: { get } } as unknown as ChatClient)
    expect((await adapter.handleWebhook(callOf(eventBy(ADA)))).status).toBe(200)
    expect(chat.getLogger().error).toHaveBeenCalledWith('An event was not handed over', expect.anything())
  })

  it.each([
    ['was rolled back', true],
    ['is there, though its end was not seen', false],
  ])('is answered when its id is stored, and handed over once when the commit before %s', async (_, isRolledBack) => {
    const stored = new Set<string>()
    let attempts = 0
    const store = {
      // As one that tries a unit again, whose commit then fails.
      async apply(unit: Parameters<ReceiveStore<unknown>['apply']>[0]) {
        const added = unit.ids.filter((id) => !stored.has(id))
        for (let n = 0; n < 2; n++) for (const id of added) await unit.run(undefined, id)
        attempts++
        if (attempts > 1 || !isRolledBack) for (const id of added) stored.add(id)
        if (attempts === 1) throw new Error('no word of a commit')
        return added.length
      },
    }
    const { adapter, chat } = await begun(KNOWING, store as ReceiveStore<unknown>)
    const command = {
      ...{ id: 'evt_command', type: 'command.invoked', timestamp: '2026-01-01T00:00:00.000000Z' },
      data: { invocation_id: ROOT, conversation_id: CONVERSATION, user_id: ADA, name: 'deploy', options: { v: '4' } },
    }
    expect((await adapter.handleWebhook(callOf(command))).status).toBe(500)
    for (let n = 0; n < 2; n++) expect((await adapter.handleWebhook(callOf(command))).status).toBe(200)
    expect(attempts).toBe(3)
    expect(chat.processSlashCommand).toHaveBeenCalledOnce()
  })

  it('is refused, and logged, for a command or a reaction without its texts', async () => {
    const { adapter, chat } = await begun()
    const place = { conversation_id: CONVERSATION, root_id: ROOT, user_id: ADA }
    const calls = [
      { type: 'command.invoked', data: { ...place, invocation_id: ROOT } },
      { type: 'reactions.changed', data: { ...place, message_id: ROOT, action: 'added', reactions: [] } },
    ]
    for (const { type, data } of calls) {
      const call = callOf({ id: `evt_${type}`, type, timestamp: '2026-01-01T00:00:00.000000Z', data })
      expect((await adapter.handleWebhook(call)).status).toBe(500)
      const error = expect.objectContaining({ message: expect.stringContaining(`"${type}"`) })
      expect(chat.getLogger().error).toHaveBeenLastCalledWith('An event was refused', { error })
    }
  })

  it('is not lost before the SDK has begun', async () => {
    const adapter = createChatServerAdapter({ client: KNOWING, store: { apply() {} } as never, secrets: SECRET })
    await expect(adapter.handleWebhook(callOf(eventBy(ADA)))).rejects.toThrow('Call "initialize"')
  })
})

describeOnEachDatabase('a service that calls a bot of the Chat SDK', (openUrl) => {
  let port = 0
  const listener: { take: (request: Request) => Promise<Response> } = { take: async () => new Response() }
  const taken: string[] = []
  beforeAll(async () => {
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      const body = Buffer.concat(chunks).toString()
      const headers = request.headers as Record<string, string>
      const call = () => new Request('http://bot.test/', { method: 'POST', headers, body })
      // Each call comes twice, as after an answer that was lost.
      await listener.take(call())
      const answer = await listener.take(call())
      taken.push(JSON.parse(body).type)
      response.writeHead(answer.status).end(await answer.text())
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    port = (server.address() as AddressInfo).port
    return () => {
      server.close()
      server.closeAllConnections()
    }
  })

  it.each(['full', 'thin'] as const)(
    'has it answer once, also when the SDK has forgotten the first call: %s',
    async (payload) => {
      const service = await startService(await openUrl(), { config: webhooksTo({ port }) })
      onTestFinished(() => service.close())
      const place = await startPlace(service)
      const { ada, bot: user, conversation_id } = place
      const { secret } = await ada.webhooks.create({ url: `http://127.0.0.1:${port}/`, bot_id: user.id, payload })
      const program = await startBot(place, { secrets: secret! }, { dedupeTtlMs: 1 })
      program.bot.onNewMention(async (thread, message) => void (await thread.post(`You said ${message.text}`)))
      listener.take = (request) => program.bot.webhooks.chatserver!(request)
      const { root_id } = await ada.messages.postRoot(conversation_id, { content: `@${user.username} one` })
      await expect.poll(() => textsOf(ada, root_id)).toHaveLength(2)
      await ada.messages.reply(root_id, { content: `@${user.username} two` })
      const said = ['one', 'two'].map((text) => `@${user.username} ${text}`)
      const texts = () => textsOf(ada, root_id)
      await expect.poll(texts).toEqual([said[0], `You said ${said[0]}`, said[1], `You said ${said[1]}`])
      expect(taken.filter((type) => type === 'message.new').length).toBeGreaterThanOrEqual(2)
    },
  )
})

it('says what is wrong with an option', async () => {
  const [client, store] = [KNOWING, { apply() {} } as never]
  expect(() => createChatServerAdapter({} as never)).toThrow('needs a client')
  expect(() => createChatServerAdapter({ client } as never)).toThrow('"store" must be')
  expect(() => createChatServerAdapter({ client, store, secrets: 'x' })).toThrow('"whsec_"')
  expect(() => createChatServerAdapter({ client, store, secret: SECRET } as never)).toThrow('has no "secret"')
  await expect(createChatServerAdapter({ client, store }).pull()).rejects.toThrow('Call "initialize"')
  await expect(createChatServerAdapter({ client, store }).pull({ types: [] } as never)).rejects.toThrow(
    'has no "types"',
  )
})
