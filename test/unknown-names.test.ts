import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { createElement } from 'react'
import { renderToString } from 'react-dom/server'
import { createStorage } from 'unstorage'
import { afterAll, describe, expect, it } from 'vitest'
import { createChatServerAdapter } from '../lib/chat-sdk/index.ts'
import { createAdminClient } from '../lib/client/admin.ts'
import { ADMIN_OPERATIONS } from '../lib/client/admin-operations.ts'
import { createChatClient, streamMessage } from '../lib/client/index.ts'
import type { Operation } from '../lib/client/operation.ts'
import { OPERATIONS } from '../lib/client/operations.ts'
import {
  ChatProvider,
  useConversation,
  useConversations,
  useDirectory,
  useSearch,
  useSeen,
} from '../lib/client/react/index.ts'
import { createChatStore } from '../lib/client/store/index.ts'
import { createMessageSearch, inboxOf, searchMessages, searchOf, seenOf } from '../lib/client/store/parts.ts'
import { USE_CASES } from '../lib/features.ts'
import { createChatApp, serve } from '../lib/http/index.ts'
import {
  type ChatError,
  createChatService,
  OPERATOR,
  openStorage,
  parseConfig,
  postgresConnector,
  restoreStorage,
  toolResult,
} from '../lib/index.ts'
import { createReceiver, sqliteStore } from '../lib/receive/index.ts'
import { createTestChat } from '../lib/testing/index.ts'
import { createWebChat } from '../lib/web/index.ts'

// The report of the published types has every function that a host calls. One that takes an object of ours without a
// decision fails here.

const test = await createTestChat({ users: ['ada'], config: { attachments: { enabled: true } } })
const { chat } = test
const ada = test.actor('ada')
const storage = await openStorage({ database: 'sqlite::memory:' })
const client = createChatClient({ base_url: 'http://127.0.0.1:9', fetch: () => Promise.reject(new Error('sent')) })
const store = createChatStore(client)
const receiver = createReceiver({
  store: sqliteStore(new Sqlite(':memory:')),
  source: 'x',
  secrets: `whsec_${'A'.repeat(43)}=`,
  effect: () => {},
})
const adapter = createChatServerAdapter({ client, store: sqliteStore(new Sqlite(':memory:')) })
afterAll(async () => {
  await test.close()
  await storage.close()
})

/** With a name that no type has; each call is made with it. */
type Unknown = never

const first = (loop: AsyncIterable<unknown>) => loop[Symbol.asyncIterator]().next()

function render(hook: () => unknown): void {
  const Page = () => void hook()
  renderToString(createElement(ChatProvider, { store }, createElement(Page as never)))
}

/** The functions with an object that refuse an unknown name in it, and how they are called. */
const REFUSING: Record<string, (bad: Unknown) => unknown> = {
  'parseConfig(input)': (bad) => parseConfig(bad),
  'createChatService(ports)': (bad) => createChatService(parseConfig(), storage, bad),
  'toolResult(value)': (bad) => toolResult(Object.assign({ output: 1, parts: [] }, bad)),
  'Chat.start(options)': (bad) => chat.start(bad),
  'Chat.system(profile)': (bad) => chat.system('names', bad),
  'Chat.idle(options)': (bad) => chat.idle(bad),
  'Chat.auth.recognise(request)': (bad) => chat.auth.recognise(bad),
  'Chat.attachments.putPart(part)': (bad) =>
    chat.attachments.putPart(ada, 'x', 1, Object.assign({ bytes: new Uint8Array(1) }, bad)),
  'Chat.attachments.upload(file)': (bad) =>
    chat.attachments.upload(ada, 'x', Object.assign({ name: 'x', bytes: new Uint8Array(1) }, bad)),
  'Chat.attachments.open(options)': (bad) => chat.attachments.open(ada, 'x', bad),
  'Chat.attachments.openThumbnail(options)': (bad) => chat.attachments.openThumbnail(ada, 'x', bad),
  'Chat.users.openAvatar(options)': (bad) => chat.users.openAvatar('x', bad),
  'Chat.attachments.openLink(options)': (bad) => chat.attachments.openLink('x', bad),
  'Chat.events.follow(options)': (bad) => first(chat.events.follow(ada, 'x', bad)),
  'Chat.events.followAll(options)': (bad) => first(chat.events.followAll(ada, bad)),
  'Chat.feed.read(options)': (bad) => chat.feed.read(ada, bad),
  'Chat.messages.wait(options)': (bad) => chat.messages.wait(ada, Object.assign({ after: 'now' }, bad)),
  'Chat.responses.get(options)': (bad) => chat.responses.get(ada, 'x', bad),
  'Chat.uiChats.resume(options)': (bad) => chat.uiChats.resume(ada, 'x', bad),
  'Chat.answers.wait(options)': (bad) => chat.answers.wait(ada, 'x', bad),
  'Chat.ops.fsck(options)': (bad) => chat.ops.fsck(bad),
  'Chat.ops.fsckFiles(options)': (bad) => chat.ops.fsckFiles(bad),
  'Chat.ops.probe(options)': (bad) => chat.ops.probe(OPERATOR, bad),
  'Chat.ops.collectFiles(options)': (bad) => chat.ops.collectFiles(bad),
  'openStorage(options)': (bad) => openStorage(bad),
  'Storage.import(options)': (bad) => storage.import((async function* () {})(), undefined, bad),
  'Receiver.pull(options)': (bad) => receiver.pull({ feed: { read: () => Promise.reject(new Error('sent')) } }, bad),
  'createChatServerAdapter(options)': (bad) => createChatServerAdapter(Object.assign({ client }, bad)),
  'ChatServerAdapter.pull(options)': (bad) => adapter.pull(bad),
  'Storage.backup(options)': (bad) => storage.backup(join(tmpdir(), 'x'), bad),
  'postgresConnector(options)': (bad) => postgresConnector(bad),
  'restoreStorage(options)': (bad) =>
    restoreStorage(`sqlite:${join(mkdtempSync(join(tmpdir(), 'names-')), 'chat.db')}`, 'x', bad),
  'createChatApp(options)': (bad) => createChatApp(chat, bad),
  'ChatServer.close(options)': async (bad) => {
    const server = await serve(chat, { port: 0 })
    try {
      await server.close(bad)
    } finally {
      await server.close({ delay_seconds: 0 })
    }
  },
  'serve(options)': (bad) => serve(chat, bad),
  'createChatClient(options)': (bad) => createChatClient(bad),
  'createAdminClient(options)': (bad) => createAdminClient(bad),
  'ChatClient.events.follow(options)': (bad) => first(client.events.follow('x', bad)),
  'ChatClient.events.followAll(options)': (bad) => first(client.events.followAll(bad)),
  'ChatClient.upload(options)': (bad) => client.upload('x', new Blob(['x']), bad),
  'createChatStore(options)': (bad) => createChatStore(client, bad),
  'ChatStore.post(post)': (bad) => store.post(bad),
  'ChatStore.directory(options)': (bad) => store.directory(bad),
  'ChatStore.conversation(options)': (bad) => store.conversation('x', bad),
  'StoreInbox.notifications(filter)': (bad) => inboxOf(store).notifications(bad),
  'createMessageSearch(options)': (bad) => createMessageSearch(client, bad),
  'searchMessages(options)': (bad) => first(searchMessages(client, { q: 'steam' }, bad)),
  'searchOf(options)': (bad) => searchOf(store, bad),
  'StoreSeen.observe(options)': (bad) => seenOf(store).observe({} as Element, {} as never, bad),
  'streamMessage(input)': (bad) => streamMessage(client, 'x', bad),
  'useConversations(options)': (bad) => render(() => useConversations(bad)),
  'useDirectory(options)': (bad) => render(() => useDirectory(bad)),
  'useConversation(options)': (bad) => render(() => useConversation('x', bad)),
  'useSearch(options)': (bad) => render(() => useSearch(undefined, bad)),
  'useSeen(options)': (bad) => render(() => useSeen({} as never, bad)),
  'createWebChat(options)': (bad) => createWebChat(bad),
  'createTestChat(options)': (bad) => createTestChat(bad),
}

const MADE_BY_US = 'a value that another function of the package returns'
const OF_A_STORE = 'the kit calls what the receiver wrote'
const OF_THE_SDK = 'a value of the Chat SDK, which passes it'
const CALLS_STORE = 'passed on to the store, which refuses it'
const SMALL = 'its types check it: the whole transport is to be less than 2 kB'
const SENT = 'sent over HTTP, where unknown fields are ignored: a page may be newer than the service'

/** The others, and why. */
const ACCEPTING: Record<string, string> = {
  'Chat.reload(config)': MADE_BY_US,
  'createChatService(config)': MADE_BY_US,
  'Chat.auth.setAvatar(bytes)': 'bytes, or a function',
  'WebPage.fetch(options)': 'the adapter passes them',
  'WebChat.fetch(options)': 'the adapter passes them',
  'createChatService(storage)': MADE_BY_US,
  'Storage.export(onProgress)': 'a function',
  'Storage.import(onProgress)': 'a function',
  'pgStore(pool)': MADE_BY_US,
  'ReceiveStore.apply(unit)': OF_A_STORE,
  'ReceiveStore.forget(forgetting)': OF_A_STORE,
  'ReceiverOptions.store.apply(unit)': OF_A_STORE,
  'ReceiverOptions.store.forget(forgetting)': OF_A_STORE,
  'Effect(event)': OF_A_STORE,
  'ReceiverOptions.effect(event)': OF_A_STORE,
  'ReceiverOptions.reset(reset)': OF_A_STORE,
  'Receiver.forget(forgetting)': 'without `since` it is refused',
  'verifyWebhook(call)': 'a request may have any fields; without keys it is refused',
  'ChatServerAdapter.encodeThreadId(platformData)': MADE_BY_US,
  'ChatServerAdapter.fetchSubject(raw)': OF_THE_SDK,
  'ChatServerAdapter.markAsRead(message)': OF_THE_SDK,
  'ChatServerAdapter.parseMessage(raw)': OF_THE_SDK,
  'ChatServerAdapter.rehydrateAttachment(attachment)': OF_THE_SDK,
  'ChatServerAdapter.scheduleMessage(options)': OF_THE_SDK,
  'ChatServerAdapterOptions.store.apply(unit)': OF_A_STORE,
  'ChatServerAdapterOptions.store.forget(forgetting)': OF_A_STORE,
  'Receiver.pull(client)': 'a client of ours, or what has its feed',
  'createChatApp(chat)': MADE_BY_US,
  'createNodeHandler(app)': MADE_BY_US,
  'createWellKnownHandler(chat)': MADE_BY_US,
  'serve(chat)': MADE_BY_US,
  'createChatStore(client)': MADE_BY_US,
  'assistantOf(store)': MADE_BY_US,
  'inboxOf(store)': MADE_BY_US,
  'peopleOf(store)': MADE_BY_US,
  'followedThreadsOf(store)': MADE_BY_US,
  'canOf(store)': MADE_BY_US,
  'pinsOf(store)': MADE_BY_US,
  'presenceOf(store)': MADE_BY_US,
  'receiptsOf(store)': MADE_BY_US,
  'commandsOf(store)': MADE_BY_US,
  'MessageStream.end(input)': 'an input of a use-case, which refuses it',
  'ClientMessageStream.end(input)': SENT,
  'streamMessage(client)': MADE_BY_US,
  'uiTransport(client)': MADE_BY_US,
  'uiTransport(options)': SENT,
  'UiTransport.load(options)': SMALL,
  'UiTransport.list(options)': SENT,
  'partsOf(message)': MADE_BY_US,
  'parseCommand(commands)': MADE_BY_US,
  'parseCommand(people)': 'participants have more fields',
  'StoreCommands.invoke(call)': SENT,
  'CommandActions.invoke(call)': SENT,
  'noticesOf(store)': MADE_BY_US,
  'searchOf(store)': MADE_BY_US,
  'seenOf(store)': MADE_BY_US,
  'uploadsOf(store)': MADE_BY_US,
  'StoreSeen.observe(message)': MADE_BY_US,
  'useSeen(message)': MADE_BY_US,
  'createMessageSearch(client)': MADE_BY_US,
  'searchMessages(client)': MADE_BY_US,
  'Chat.limits.createAssignment(endpoints)': MADE_BY_US,
  'useNotifications(filter)': CALLS_STORE,
  'useSearch(query)': SENT,
  'searchMessages(query)': SENT,
  'MessageSearch.set(query)': SENT,
  'ChatStore.openDirect(partner)': SENT,
  'ChatStore.setSettings(change)': SENT,
  'StoreInbox.markRead(mark)': SENT,
  'ConversationsActions.openDirect(partner)': SENT,
  'ConversationSettingsActions.setSettings(change)': SENT,
  'InboxActions.markRead(mark)': SENT,
  'AssistantChat.send(options)': CALLS_STORE,
  'AssistantChat.regenerate(options)': CALLS_STORE,
  'AssistantChat.decide(decision)': SENT,
  'AssistantChatActions.send(options)': CALLS_STORE,
  'AssistantChatActions.regenerate(options)': CALLS_STORE,
  'AssistantChatActions.decide(decision)': SENT,
  'ThreadMessages.reply(options)': CALLS_STORE,
  'ThreadAssistant.ask(options)': CALLS_STORE,
  'StartThread(options)': CALLS_STORE,
  'WindowActions.post(options)': CALLS_STORE,
  'ChatProvider(props)': 'a framework may add properties; without a store and a client it does not render',
}

/** Types whose functions the host writes, and the service calls. */
const OF_THE_HOST =
  /^(Assistant|Hooks|Log|Ports|UploadOptions|ClientOptions|TestChatOptions|ToolDefinition|Opening|Sink|Pg\w+)\b/

/** The same functions as of `Chat`, `ChatClient` and `AdminClient`, by the names of their groups. */
const GROUPS = /^(SharedChat\.|\w+UseCases\.|(StoreClient|SearchClient|\w+(?<!^Chat|^Admin)Client)\.)/

/** Each function of the report that takes an object of ours, as `name(parameter)`. */
function listFunctions(): string[] {
  const report = readFileSync(new URL('./tools/public-types.txt', import.meta.url), 'utf8')
  // A long type goes on in lines that are indented.
  const entries = report.replaceAll(/\n(?=[ }])\s*/g, ' ').split('\n')
  const ours = new Set(entries.flatMap((entry) => /^(\w+)[.:]/.exec(entry)?.[1] ?? []))
  const isObject = (type: string) =>
    type.startsWith('{') || [...type.matchAll(/\b[A-Z]\w+/g)].some(([name]) => ours.has(name))
  return entries.flatMap((entry) => {
    const [, name, rest] = /^([\w.]+)\??: \(+(.*)$/.exec(entry) ?? []
    if (name === undefined) return []
    return parametersIn(rest!)
      .filter(({ type }) => isObject(type))
      .map((parameter) => `${name}(${parameter.name})`)
  })
}

/** The parameters at the beginning of the text of a function. */
function parametersIn(text: string): { name: string; type: string }[] {
  const parameters: string[] = ['']
  let depth = 0
  for (const [at, letter] of [...text].entries()) {
    const isArrow = letter === '>' && text[at - 1] === '='
    if ('({[<'.includes(letter)) depth++
    if (')}]>'.includes(letter) && !isArrow && depth-- === 0) break
    if (letter === ',' && depth === 0) parameters.push('')
    else parameters[parameters.length - 1] += letter
  }
  return parameters.flatMap((parameter) => {
    const [, name, type] = /^\s*(\{.*?\}|\w+)\??: (.*)$/.exec(parameter) ?? []
    return name === undefined ? [] : [{ name: name.startsWith('{') ? 'props' : name, type: type! }]
  })
}

const isOfFeature = (name: string) =>
  /^(Chat|ChatClient|AdminClient)\.\w+\.\w+\((actor|client|input|user)\)$/.test(name)
const isCallOption = (name: string) => /^(ChatClient|AdminClient)\..*\(options\)$/.test(name)

it('has a decision on every function that takes an object', () => {
  const functions = listFunctions().filter((name) => !OF_THE_HOST.test(name) && !GROUPS.test(name))
  expect(functions.length).toBeGreaterThan(100)
  const named = functions.filter((name) => !isOfFeature(name) && !isCallOption(name))
  expect(named.filter((name) => !(name in REFUSING) && !(name in ACCEPTING))).toEqual([])
  expect([...Object.keys(REFUSING), ...Object.keys(ACCEPTING)].filter((name) => !functions.includes(name))).toEqual([])
})

it.each(Object.entries(REFUSING))('%s refuses an unknown name', async (_, call) => {
  const error = await (async () => call({ zzzz: 1 } as Unknown))().then(
    () => undefined,
    (error: Error) => error,
  )
  expect(error?.message).toBeDefined()
  expect(`${error?.message} ${JSON.stringify((error as ChatError).errors)}`).toContain('zzzz')
})

describe('a function of a feature', () => {
  const useCases = Object.entries(USE_CASES).flatMap(([feature, verbs]) =>
    Object.entries(verbs).map(([verb, useCase]) => ({ feature, verb, useCase })),
  )

  const ARGUMENTS: Record<string, unknown> = { actor: OPERATOR, 'actor?': OPERATOR, client: {}, endpoints: [] }

  it('refuses an unknown field of its input, and an unknown name of the client', async () => {
    for (const { feature, verb, useCase } of useCases) {
      const { takes, input } = useCase as { takes: readonly string[]; input: unknown }
      const taken = takes.map((name) => ARGUMENTS[name] ?? 'x')
      const call = (chat as unknown as Record<string, Record<string, (...args: unknown[]) => Promise<unknown>>>)[
        feature
      ]![verb]!
      const refused = {
        code: 'validation_failed',
        errors: expect.arrayContaining([{ path: 'zzzz', message: 'unknown name' }]),
      }
      if (input) await expect(call(...taken, { zzzz: 1 }), `${feature}.${verb}`).rejects.toMatchObject(refused)
      if (!takes.includes('client')) continue
      const withBad = taken.map((each, index) => (takes[index] === 'client' ? { zzzz: 1 } : each))
      await expect(call(...withBad, {}), `${feature}.${verb}`).rejects.toMatchObject(refused)
    }
  })

  it('names the nearest right field, at any depth', async () => {
    const { conversation_id } = await chat.conversations.create(ada, {})
    const post = (input: object) => chat.messages.postRoot(ada, conversation_id, input as { content: string })
    await expect(post({ contnt: 'a', metadata: { anything: { goes: 1 } } })).rejects.toMatchObject({
      errors: [{ path: 'contnt', message: 'unknown name, did you mean "content"?' }],
    })
    await expect(post({ content: 'a', mentions: { user_id: [] } })).rejects.toMatchObject({
      errors: [{ path: 'mentions.user_id', message: 'unknown name, did you mean "user_ids"?' }],
    })
    const direct = chat.conversations.direct(ada, { usernme: 'ada' } as never)
    await expect(direct).rejects.toMatchObject({
      errors: expect.arrayContaining([{ path: 'usernme', message: 'unknown name, did you mean "username"?' }]),
    })
  })

  it('reports at most twenty of any number of unknown names, and cuts long ones', async () => {
    const many = Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [`${n}_`.padEnd(200, 'x'), 1]))
    const error: ChatError = await chat.conversations.create(ada, many as never).then(
      () => expect.unreachable(),
      (error) => error,
    )
    expect(error.errors).toHaveLength(20)
    expect(error.errors![0]!.path).toHaveLength(100)
  })
})

it('every method of a client refuses an unknown option', async () => {
  const admin = createAdminClient({ base_url: 'http://127.0.0.1:9', fetch: () => Promise.reject(new Error('sent')) })
  const all: Record<string, Record<string, Operation>>[] = [OPERATIONS, ADMIN_OPERATIONS]
  for (const operations of all) {
    for (const [feature, verbs] of Object.entries(operations)) {
      if (feature === 'events') continue
      for (const [verb, operation] of Object.entries(verbs)) {
        const [, path = '', ...traits] = operation.split(' ')
        const call = (admin as unknown as Record<string, Record<string, (...args: unknown[]) => Promise<unknown>>>)[
          feature
        ]![verb]!
        const ids = [...path.matchAll(/\{\w+\}/g)].map(() => 'x')
        await expect(
          call(...ids, ...(['query', 'body', 'bytes'].some((kind) => traits.includes(kind)) ? [{}] : []), { signa: 1 }),
        ).rejects.toThrow('has no "signa", only headers, signal, keepalive')
      }
    }
  }
})

it('over HTTP unknown fields are ignored', async () => {
  const app = createChatApp(chat, { addressOf: () => '127.0.0.1' })
  const { key } = await chat.keys.create(ada, { name: 'test' })
  const { conversation_id } = await chat.conversations.create(ada, {})
  const send = (method: string, path: string, body?: object) =>
    app.fetch(
      new Request(`http://chat.test${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      }),
    )
  const posted = await send('POST', `/api/threads/${conversation_id}/root`, {
    content: 'a',
    zzzz: 1,
    mentions: { zzzz: 1 },
  })
  expect(posted.status).toBe(201)
  const { message_id } = (await posted.json()) as { message_id: string }
  expect((await send('POST', `/api/messages/${message_id}/reply`, { content: 'a', zzzz: 1 })).status).toBe(201)
  expect((await send('POST', '/api/conversations', { title: 'a', zzzz: 1 })).status).toBe(201)
  expect((await send('GET', '/api/conversations?zzzz=1')).status).toBe(200)
})

describe('objects of a host', () => {
  const open = (ports: object) => createChatService(parseConfig(), storage, ports)

  it.each([
    [{ hooks: { beforeMesage() {} } }, 'createChatService has no "hooks.beforeMesage", did you mean "beforeMessage"?'],
    [{ hoks: {} }, 'createChatService has no "hoks", did you mean "hooks"?'],
    [{ notifiy() {} }, 'did you mean "notify"?'],
    [{ hooks: { Failure: 'pass' } }, 'did you mean "failure"?'],
  ])('%o is refused with the nearest right name', (ports, message) => {
    expect(() => open(ports)).toThrow(message)
  })

  it('a brand is refused for a misspelt color', () => {
    const brand = { colors: { acent: '#fff' } } as never
    expect(() => createWebChat({ brand })).toThrow('has no "brand.colors.acent", did you mean "accent"?')
  })

  it('an instance of a class may have members of its own, but no misspelt ones', () => {
    class Moderation {
      readonly words = ['damn']
      beforeMessage({ content }: { content: string }) {
        return this.isAllowed(content) ? undefined : { refuse: 'no' }
      }
      private isAllowed(content: string) {
        return !this.words.includes(content)
      }
    }
    class Misspelt {
      beforeMesage() {}
    }
    class Derived extends Misspelt {}
    expect(() => open({ hooks: new Moderation() })).not.toThrow()
    expect(() => open({ hooks: new Misspelt() })).toThrow('did you mean "beforeMessage"?')
    expect(() => open({ hooks: new Derived() })).toThrow('did you mean "beforeMessage"?')
  })

  it('a module may have other exports', async () => {
    const hooks = await import('./support/hooks-module.ts')
    expect(() => open({ hooks })).not.toThrow()
  })

  it('an object without a prototype is one like others', () => {
    expect(() => open(Object.assign(Object.create(null), { hoks: {} }))).toThrow('did you mean "hooks"?')
  })

  it('handles are not looked at: a log, a bus, a fetch and a storage may have any members', async () => {
    const log = { debug() {}, info() {}, warn() {}, error() {}, trace() {}, child() {} }
    const bus = { publish() {}, subscribe() {}, close() {}, connection: {} }
    expect(() => open({ log, bus })).not.toThrow()
    const opened = await openStorage({ database: 'sqlite::memory:', kv: createStorage(), files: createStorage() })
    await opened.close()
    expect(() => createChatClient({ base_url: '/', fetch: Object.assign(fetch, { preconnect() {} }) })).not.toThrow()
  })
})
