import { createElement } from 'react'
import { renderToString } from 'react-dom/server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FUNCTIONS, LOOPS, USE_CASES } from '../lib/features.ts'
import { createChatApp } from '../lib/http/app.ts'
import {
  type Chat,
  ChatError,
  type ConfigInput,
  createChatService,
  OPERATOR,
  openStorage,
  parseConfig,
} from '../lib/index.ts'
import packageJson from '../package.json' with { type: 'json' }
import { freePort } from './support/free-port.ts'

/** The modules behind the entry points of the package, by entry point. */
const MODULES: Record<string, () => Promise<object>> = {
  '.': () => import('../lib/index.ts'),
  './h3': () => import('../lib/http/index.ts'),
  './client': () => import('../lib/client/index.ts'),
  './client/admin': () => import('../lib/client/admin.ts'),
  './client/store': () => import('../lib/client/store/index.ts'),
  './client/parts': () => import('../lib/client/store/parts.ts'),
  './client/ai': () => import('../lib/client/ai/index.ts'),
  './react': () => import('../lib/client/react/index.ts'),
  './receive': () => import('../lib/receive/index.ts'),
  './chat-sdk': () => import('../lib/chat-sdk/index.ts'),
  './testing': () => import('../lib/testing/index.ts'),
  './web': () => import('../lib/web/index.ts'),
}

type Case = [args: unknown[], text: string | RegExp]

const NEEDS_URL: Case[] = [
  [[], 'A client needs { base_url: '],
  [[{}], "{ base_url: 'https://example.org/chat' }"],
  [['https://example.org'], 'A client needs { base_url: '],
  [[{ base_url: 5 }], 'A client needs { base_url: '],
  [[{ base_url: 'https://example.org', fetch: 1 }], 'The option "fetch" must be a function'],
]
const NEEDS_STORE: Case[] = [
  [[], 'A part needs its store: pass what createChatStore returned'],
  [[{}], 'A part needs its store'],
]
const NEEDS_CHAT: Case[] = [
  [[], 'Expected a service that createChatService returned'],
  [[null], 'Expected a service that createChatService returned'],
  [[{}], 'Expected a service that createChatService returned'],
]
/** A function that takes any arguments, or none, and classes of errors. */
const TAKES_ANY: Case[] = []

const memory = () => openStorage({ database: 'sqlite::memory:' })

/** Wrong arguments of each function of each entry point, and what the error contains. Hooks need a page: see below. */
const CASES: Record<string, Record<string, Case[]>> = {
  '.': {
    AnswerFailure: TAKES_ANY,
    ChatError: TAKES_ANY,
    ConfigError: TAKES_ANY,
    ToolFailure: TAKES_ANY,
    createChatService: [
      [[], 'the configuration must come from parseConfig: pass parseConfig({ … })'],
      [[null], 'the configuration must come from parseConfig'],
      [[{}], 'the configuration must come from parseConfig'],
      [[{ session: { idle_seconds: 3600 } }], 'the configuration must come from parseConfig'],
      [[{ ...parseConfig(), limits: { message_bytes: 10 } }], '("limits.'],
      [[parseConfig()], 'the second argument must be a storage: pass await openStorage({ … })'],
      [[parseConfig(), 'sqlite::memory:'], 'the second argument must be a storage'],
      [[parseConfig(), Promise.resolve()], 'the storage is a promise: pass await openStorage({ … })'],
      [[parseConfig(), { db: {} }, null], 'createChatService needs an object'],
      [[parseConfig(), { db: {} }, { identity: 'x' }], 'createChatService: "identity" must be a function'],
      [[parseConfig(), { db: {} }, { log: 1 }], '"log" must be an object with debug, info, warn, error'],
      [[parseConfig(), { db: {} }, { tools: 'refund' }], '"tools" must be an object of tools'],
      [[parseConfig(), { db: {} }, { hooks: null }], '"hooks" must be an object of hooks'],
      [[parseConfig(), { db: {} }, { hooks: { beforeMessage: {} } }], 'hooks: "beforeMessage" must be a function'],
      [[parseConfig(), { db: {} }, { hooks: { failure: 'ignore' } }], '"failure" must be "refuse" or "pass"'],
    ],
    defineTool: [
      [[], 'defineTool: needs an object'],
      [[{}], 'defineTool: description must be set'],
    ],
    jwtIdentity: [
      [[], 'jwtIdentity needs an object'],
      [[{ isuer: 'x' }], 'jwtIdentity has no "isuer", did you mean "issuer"?'],
      [[{ issuer: 'x', audience: 'y' }], 'jwtIdentity: secret must be set, or public_key, or jwks_url'],
    ],
    openStorage: [
      [[null], 'openStorage: expected options such as { database'],
      [['sqlite::memory:'], 'openStorage: expected options such as { database'],
      [[{ database: 5 }], 'openStorage: "database" must be an address (sqlite:… or postgres://…)'],
      [[{ database: {} }], 'openStorage: "database" must be an address'],
      [[{ database: 'chat.db' }], 'The database address must start with sqlite: or postgres://'],
      [[{ database: 'sqlite:' }], 'The database address must start with sqlite: or postgres://'],
      [[{ database: 'postgres://chat:secret@x:bad' }], 'openStorage: "database" is not a valid URL: escape'],
      [[{ kv: 5 }], 'openStorage: "kv" must be a storage of unstorage'],
      [[{ files: {} }], 'openStorage: "files" must be a place (fs:… or s3://…)'],
      [[{ pool_size: '20' }], 'openStorage: "pool_size" must be a number of connections from 1'],
      [[{ durability: 'none' }], 'openStorage: "durability" must be "full" or "os"'],
      [[{ read_only: 'yes' }], 'openStorage: "read_only" must be true or false'],
      [[{ schema: 5 }], 'openStorage: "schema" must be a text'],
    ],
    parseConfig: [
      [[null], 'must be an object'],
      [[[]], 'must be an object'],
      [['chat.toml'], 'must be an object'],
      [[{ sesion: {} }], 'unknown key, did you mean session?'],
    ],
    postgresConnector: [
      [[], "postgresConnector: pass { url: 'postgres://…' }"],
      [['postgres://x'], "postgresConnector: pass { url: 'postgres://…' }"],
    ],
    restoreStorage: [
      [[], 'restoreStorage: pass the database and the backup'],
      [['sqlite:./data/chat.db'], 'restoreStorage: pass the database and the backup'],
    ],
    toolResult: [
      [[], 'toolResult needs an object'],
      [[{ output: 1 }], 'toolResult needs { output, parts }, and parts must be a list'],
    ],
  },
  './h3': {
    createChatApp: NEEDS_CHAT,
    createNodeHandler: [
      [[], 'createNodeHandler: pass the app that createChatApp returned'],
      [[{}], 'createNodeHandler: pass the app that createChatApp returned'],
    ],
    createWellKnownHandler: NEEDS_CHAT,
    serve: NEEDS_CHAT,
  },
  './client': {
    ChatError: TAKES_ANY,
    createChatClient: NEEDS_URL,
    parseCommand: [
      [[], 'parseCommand needs a line: pass what the user has typed'],
      [['/help', { commands: [] }], 'pass the list that client.commands.list returned'],
    ],
    partsOf: [[[], 'partsOf needs a message']],
    streamMessage: [
      [[], 'streamMessage needs a client: pass what createChatClient returned'],
      [[{}, 'x'], 'streamMessage needs a client'],
    ],
  },
  './client/admin': { ChatError: TAKES_ANY, createAdminClient: NEEDS_URL },
  './client/store': {
    createChatStore: [
      [[], 'createChatStore needs a client: pass what createChatClient returned'],
      [[{}], 'createChatStore needs a client'],
    ],
  },
  './client/parts': {
    createMessageSearch: TAKES_ANY,
    searchMessages: TAKES_ANY,
    assistantOf: NEEDS_STORE,
    inboxOf: NEEDS_STORE,
    peopleOf: NEEDS_STORE,
    followedThreadsOf: NEEDS_STORE,
    canOf: NEEDS_STORE,
    commandsOf: NEEDS_STORE,
    noticesOf: NEEDS_STORE,
    pinsOf: NEEDS_STORE,
    presenceOf: NEEDS_STORE,
    receiptsOf: NEEDS_STORE,
    searchOf: NEEDS_STORE,
    seenOf: NEEDS_STORE,
    uploadsOf: NEEDS_STORE,
  },
  './client/ai': {
    uiTransport: [
      [[], 'uiTransport needs a client'],
      [[{}], 'uiTransport needs a client'],
    ],
  },
  './chat-sdk': {
    createChatServerAdapter: [
      [[], 'createChatServerAdapter needs an object'],
      [[{}], 'createChatServerAdapter needs a client'],
      [[{ client: { feed: { read() {} } } }], '"store" must be what pgStore(pool) or sqliteStore(db) returned'],
    ],
  },
  './receive': {
    ReceiveError: TAKES_ANY,
    applyOnce: [
      [[], '"store" must be what pgStore(pool) or sqliteStore(db) returned'],
      [[{ apply() {} }], '"source" must be a name'],
      [[{ apply() {} }, 'crm', []], '"effect" must be a function'],
      [[{ apply() {} }, 'crm', {}, () => {}], '"events" must be a list'],
    ],
    createReceiver: [
      [[], 'createReceiver: pass { store, source, secrets, effect }'],
      [[{}], '"store" must be what pgStore(pool) or sqliteStore(db) returned'],
      [[{ store: { apply() {} }, source: 'crm', effect() {}, secrets: ['s3cret'] }], '"whsec_" with base64'],
    ],
    pgStore: [
      [[], 'pgStore: pass a Pool of pg'],
      [[{}], 'pgStore: pass a Pool of pg'],
    ],
    receiveSchema: [[['mysql'], 'the dialect is "postgres" or "sqlite"']],
    sqliteStore: [
      [[], 'sqliteStore: pass a database of better-sqlite3'],
      [[{}], 'sqliteStore: pass a database of better-sqlite3'],
    ],
    verifyWebhook: [
      [[], 'Pass the "secrets" of the webhook'],
      [[{ secrets: [] }], 'Pass the "secrets" of the webhook'],
      [[{ public_keys: 'whpk_AAAA' }], '"whpk_" with base64'],
      [[{ secrets: 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' }], '"headers" must be the headers of the call'],
    ],
  },
  './testing': {
    createTestChat: [
      [[{ users: 'ada' }], '"users" must be a list'],
      [[{ assistant: 5 }], '"assistant" must be a text or a function'],
      [[{ config: 5 }], 'must be an object'],
      [[{ clock: 'yesterday' }], 'The clock "yesterday" is not an instant like'],
    ],
    createTestSchema: [
      [[], 'createTestSchema: pass the address of a PostgreSQL database: postgres://…'],
      [['sqlite::memory:'], 'createTestSchema: pass the address of a PostgreSQL database'],
    ],
  },
  './web': { createWebChat: [[[{ base: 'chat' }], 'base']], hasWebChat: TAKES_ANY },
}

/** The message of what a call throws, or rejects with. */
async function messageOf(call: () => unknown): Promise<string> {
  try {
    await call()
  } catch (error) {
    return (error as Error).message
  }
  return 'no error'
}

it('has a case for every function of every entry point', async () => {
  const entries = Object.keys(packageJson.exports).filter((entry) => entry !== './package.json')
  expect(Object.keys(MODULES).sort()).toEqual(entries.sort())
  for (const [entry, load] of Object.entries(MODULES)) {
    const names = Object.entries(await load()).flatMap(([name, value]) => (typeof value === 'function' ? [name] : []))
    if (entry === './react') expect(names.filter((name) => !/^use[A-Z]/.test(name))).toEqual(['ChatProvider'])
    else expect(Object.keys(CASES[entry]!).sort(), entry).toEqual(names.sort())
  }
})

describe.each(Object.entries(CASES))('%s', (entry, functions) => {
  it.each(
    Object.entries(functions).flatMap(([name, cases]) =>
      cases.map(([args, text]): [string, unknown[], typeof text] => [name, args, text]),
    ),
  )('%s refuses wrong arguments %# and names what it needs', async (name, args, text) => {
    const run = (await MODULES[entry]!())[name as never] as (...args: unknown[]) => unknown
    expect(await messageOf(() => run(...args))).toMatch(text)
  })
})

describe('<ChatProvider> and the hooks of chat-server/react', () => {
  it('say what they need', async () => {
    const { ChatProvider, useUnread } = await import('../lib/client/react/index.ts')
    const Unread = () => String(useUnread())
    expect(() => renderToString(createElement(ChatProvider, {} as never))).toThrow(
      '<ChatProvider> needs client={createChatClient({ … })}, or a store',
    )
    expect(() => renderToString(createElement(Unread))).toThrow('need a <ChatProvider> above them')
  })
})

describe('a client', () => {
  it('refuses a relative address outside a page at once, and does not try it again', async () => {
    const { createChatClient } = await import('../lib/client/index.ts')
    const client = createChatClient({ base_url: '/chat' })
    const refusal = { code: 'bad_request', message: 'Outside a page, base_url must be a whole URL, not "/chat"' }
    await expect(client.auth.me()).rejects.toMatchObject(refusal)
    await expect(client.events.followAll().next()).rejects.toMatchObject(refusal)
  })

  it('names a missing argument of a stream and of an upload', async () => {
    const { createChatClient } = await import('../lib/client/index.ts')
    const client = createChatClient({ base_url: 'http://chat.test' })
    await expect(client.events.follow(undefined as never).next()).rejects.toThrow(
      'client.events.follow(conversation_id, options) needs "conversation_id", a string',
    )
    await expect(client.upload('id', undefined as never)).rejects.toThrow('needs a Blob')
  })
})

/** Every function of a service, by feature. */
const CALLS = [USE_CASES, FUNCTIONS, LOOPS].flatMap((table) =>
  Object.entries(table).flatMap(([feature, functions]) =>
    Object.keys(functions).map((name) => [feature, name] as const),
  ),
)

/** What works without a started service: probes, metrics, what is only configured. */
const ANYTIME = ['ops.health', 'ops.readiness', 'ops.metrics', 'ops.probe', 'wellKnown.get']

const OUTSIDER = { user_id: '0190a5d4-0000-7000-8000-000000000000', roles: [] }

/** Arguments that a program without types may pass. */
const WRONG: unknown[][] = [
  [],
  [OPERATOR],
  ['x'],
  [OUTSIDER],
  [OPERATOR, 5],
  [{}, {}],
  [OUTSIDER, 'x', 5],
  [OUTSIDER, {}],
]

async function create(config: ConfigInput = {}): Promise<Chat> {
  return createChatService(parseConfig(config), await memory())
}

function call(chat: Chat, feature: string, name: string, args: unknown[]): Promise<unknown> {
  const features = chat as unknown as Record<string, Record<string, (...args: unknown[]) => unknown>>
  const returned = features[feature]![name]!(...args) as Promise<unknown> | AsyncGenerator
  return 'next' in returned ? returned.next() : returned
}

/** The code of an error for its caller; the message of any other error. */
async function outcomeOf(called: Promise<unknown>): Promise<string | undefined> {
  try {
    await called
  } catch (error) {
    return error instanceof ChatError ? `${error.code}: ${error.message}` : `raw: ${error}`
  }
  return undefined
}

describe('a service', () => {
  it('names the call that is missing before its start, and after its close', async () => {
    const chat = await create()
    const app = createChatApp(chat)
    const others = () => [chat.system('orders'), chat.withTransaction({} as never, async () => {})]
    for (const state of ['is not started: call "await chat.start()" first.', 'is closed: create another one']) {
      for (const [feature, name] of CALLS) {
        if (ANYTIME.includes(`${feature}.${name}`)) continue
        expect(await outcomeOf(call(chat, feature, name, [])), `${feature}.${name}`).toContain(
          `unavailable: The service ${state}`,
        )
      }
      for (const called of others()) expect(await outcomeOf(called)).toContain(`unavailable: The service ${state}`)
      const answer = await app.fetch(new Request('http://localhost/api/conversations'))
      expect(answer.status).toBe(503)
      expect(((await answer.json()) as { detail: string }).detail).toContain(`The service ${state}`)
      expect((await app.fetch(new Request('http://localhost/healthz'))).status).toBe(200)
      expect((await app.fetch(new Request('http://localhost/readyz'))).status).toBe(503)
      await chat.close()
    }
    expect(await outcomeOf(chat.start())).toContain('unavailable: The service is closed')
    expect(() => createChatApp(chat)).toThrow('The service is closed')
  })

  it('is not ready before its start, also on a database that is migrated', async () => {
    const storage = await memory()
    await storage.migrate()
    const chat = createChatService(parseConfig(), storage)
    expect(await outcomeOf(chat.ops.readiness())).toBe('unavailable: Not ready: start.')
    await chat.start()
    expect(await outcomeOf(chat.ops.readiness())).toBeUndefined()
    await chat.close()
  })

  it('can be started again after a start that failed', async () => {
    const storage = await memory()
    const chat = createChatService(parseConfig({ storage: { migrate: false } }), storage)
    expect(await outcomeOf(chat.start())).toMatch(/schema/)
    expect(await outcomeOf(chat.users.list(OPERATOR))).toContain('is not started')
    await storage.migrate()
    await chat.start()
    expect(await outcomeOf(chat.users.list(OPERATOR))).toBeUndefined()
    await chat.close()
  })

  it('waits for no start that is in progress', async () => {
    const chat = await create()
    const started = chat.start()
    expect(await outcomeOf(chat.users.list(OPERATOR))).toContain('is still starting: wait for "await chat.start()"')
    await started
    await chat.close()
  })

  describe('that runs', () => {
    let chat: Chat
    beforeAll(async () => {
      chat = await create({ attachments: { enabled: true, storage: 'fs:./data/unused' } })
      await chat.start()
    })
    afterAll(() => chat.close())

    it.each(CALLS)(
      'refuses wrong arguments of %s.%s with a code or the name of what is missing',
      async (feature, name) => {
        for (const args of WRONG) {
          const outcome = await outcomeOf(call(chat, feature, name, args))
          expect(outcome ?? '', JSON.stringify(args)).not.toMatch(/^raw: (?!TypeError: auth\.)/)
        }
      },
    )

    it('names an argument that was left out', async () => {
      const lacks = (name: string) => `validation_failed: Argument 2, "${name}", must be a text.`
      expect(await outcomeOf(chat.messages.reply(OUTSIDER, { content: 'x' } as never, {} as never))).toBe(
        lacks('parent_id'),
      )
      expect(await outcomeOf((chat.threads.tree as (actor: object) => Promise<unknown>)(OUTSIDER))).toBe(
        lacks('root_id'),
      )
      expect(await outcomeOf(chat.auth.authenticate({ cookie: 'x' } as never))).toContain(
        'auth.authenticate: pass the Headers or the Request; on node:http, new Headers(request.headers)',
      )
    })

    it('refuses a configuration that parseConfig did not return, and keeps its own', async () => {
      expect(await outcomeOf(chat.reload({ limits: { max_depth: 20 } } as never))).toContain(
        'chat.reload: the configuration must come from parseConfig',
      )
      expect((await chat.reload(parseConfig({ limits: { max_depth: 20 } }))).changed).toContain('limits.max_depth')
    })

    it('names what a shared transaction needs', async () => {
      const share = chat.withTransaction as (...args: unknown[]) => Promise<unknown>
      expect(await outcomeOf(share({}, async () => {}))).toContain('a handle of SQLite is needed')
      expect(await outcomeOf(share(undefined, async () => {}))).toContain('a handle of SQLite is needed')
      expect(await outcomeOf(share({}))).toContain('withTransaction(client, async (chat) => …)')
    })
  })
})

describe('a storage', () => {
  it('names what its functions need', async () => {
    const storage = (await memory()) as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>
    expect(await messageOf(() => storage.backup!())).toContain('storage.backup: pass the path of the copy')
    expect(await messageOf(() => storage.export!())).toContain('storage.export: pass a function')
    expect(await messageOf(() => storage.import!())).toContain('storage.import: pass an async iterable')
    for (const name of ['export', 'renewEpoch'])
      expect(await messageOf(() => storage[name]!(() => {}))).toContain('call storage.migrate() or chat.start() first')
    await storage.close!()
  })

  it('names why PostgreSQL cannot be reached', async () => {
    const port = await freePort()
    const opened = openStorage({ database: `postgres://chat:secret@127.0.0.1:${port}/chat` })
    await expect(opened).rejects.toMatchObject({
      code: 'unavailable',
      message: `The database cannot be used now: connect ECONNREFUSED 127.0.0.1:${port}`,
    })
  })
})
