import type { Assistant } from '../assistant/provider.ts'
import { type AdminClient, createAdminClient } from '../client/admin.ts'
import { type ConfigInput, parseConfig } from '../config/parse.ts'
import type { Actor } from '../core/actor.ts'
import { type NamesOf, refuseUnknown } from '../core/known-names.ts'
import { createChatApp } from '../http/app.ts'
import { PORTS, type Ports } from '../ports.ts'
import { type Chat, createChatService } from '../service.ts'
import { openStorage, type StorageOptions } from '../storage/open.ts'
import { createTestClock, type TestClock } from './clock.ts'
import { createUsers, type TestUser, toPerson, toUsers } from './people.ts'
import { signedInFetch } from './signed-in-fetch.ts'

export type { TestClock } from './clock.ts'
export type { TestUser } from './people.ts'
export { createTestSchema, type TestSchema } from './postgres-schema.ts'

/** The URL of every test chat. Nothing listens there: `client` calls the service directly. */
const BASE_URL = 'http://chat.test'

/** What no test should reach, and password hashes that cost little. */
const QUICK: ConfigInput = {
  security: { password: { bcrypt_cost: 4 } },
  rate_limits: {
    default_rps: 100_000,
    burst: 1_000_000,
    auth_login_per_ip_per_min: 1_000_000,
    auth_failures_per_ip_per_min: 1_000_000,
  },
}

/** The options of a test chat: what you pass to `createChatService`, and what tests need beside it. */
export interface TestChatOptions extends Omit<Ports, 'assistant' | 'now'> {
  /** Usernames, or users with roles; the address of `ada` is `ada@example.org`. None has a password. */
  users?: readonly (string | TestUser)[]
  /** The instant at which the clock stands still, as RFC 3339. Default: the clock runs. */
  clock?: string | undefined
  /** Writes the answers of the assistant; a text is every answer. Default: the configured provider. */
  assistant?: Assistant | string | undefined
  /** Any part of the configuration. */
  config?: ConfigInput
  /**
   * An address, or options of `openStorage`, such as what `createTestSchema` returns. Users that the database has already are
   * those of the test. Default: SQLite in memory.
   */
  database?: string | Pick<StorageOptions, 'database' | 'schema' | 'prefix'>
}

const { now: _, ...OTHER_PORTS } = PORTS

const TEST_CHAT_OPTIONS: NamesOf<TestChatOptions> = {
  ...OTHER_PORTS,
  users: { username: 0, roles: 0, subject: 0 },
  clock: 0,
  assistant: 0,
  config: 0,
  database: 0,
}

/** A service in memory, and its users. */
export interface TestChat {
  chat: Chat
  /** The actor of a user, for calls of `chat`. @throws Error for a user that `users` does not name */
  actor(username: string): Actor
  /**
   * A client in which the user is signed in, in a session of its own; without a name it is signed in as no user. It has
   * all endpoints, also those of administrators, and every call passes the service's HTTP adapter, without a network. With
   * an `identity`, a named client is its user without a login, and the other one calls your function.
   *
   * @throws Error for a user that `users` does not name
   */
  client(username?: string): AdminClient
  clock: TestClock
  /** Closes the service: streams end, and nothing is left open. */
  close(): Promise<void>
}

/**
 * A started service for tests, by default in memory. It opens no port and reads no file, and two of them share nothing. The limits of
 * calls and sign-ins are out of reach.
 *
 * @throws ConfigError for an invalid `config`; TypeError for a `clock` that is no instant; ChatError
 *   `validation_failed`, `email_taken` for `users`
 * @example
 * const { chat, client, close } = await createTestChat({ users: ['ada', 'grace'] })
 * const ada = client('ada')
 * const { conversation_id } = await ada.conversations.create({ title: 'Engines' })
 * await close()
 */
export async function createTestChat(options: TestChatOptions = {}): Promise<TestChat> {
  refuseUnknown('createTestChat', options, TEST_CHAT_OPTIONS)
  const { users, clock: heldAt, assistant, config = {}, database, ...ports } = options
  const people = toUsers(users)
  const clock = createTestClock(heldAt)
  const storage = await openStorage(toStorage(database))
  const requests = new WeakMap<Request, TestUser>()
  const { identity } = ports
  const chat = createChatService(parseConfig(withDefaults(withDefaults(QUICK, cookiesOf(database)), config)), storage, {
    ...ports,
    ...(assistant !== undefined && { assistant: toAssistant(assistant) }),
    ...(identity && {
      identity(request) {
        const person = requests.get(request.request)
        return person ? toPerson(person) : identity(request)
      },
    }),
    now: clock.micros,
  })
  const begin = async () => {
    await chat.start()
    return createUsers(chat, people)
  }
  const actors = await begin().catch(async (error) => {
    await chat.close()
    throw error
  })
  const app = createChatApp(chat, { addressOf: () => '127.0.0.1' })
  const sendAs =
    (person: TestUser | undefined): typeof fetch =>
    async (input, init) => {
      const request = new Request(input, init)
      if (person) requests.set(request, person)
      return app.fetch(request)
    }

  function actor(username: string): Actor {
    const known = actors.get(username)
    if (!known) throw new Error(`createTestChat has no user "${username}": its users are ${[...actors.keys()]}`)
    return known
  }

  return {
    chat,
    actor,
    client(username) {
      const withFetch = (fetch: typeof globalThis.fetch) =>
        createAdminClient({ base_url: BASE_URL, fetch, retry_ms: 1 })
      if (username === undefined) return withFetch(sendAs(undefined))
      const caller = actor(username)
      if (!identity) return withFetch(signedInFetch(chat, caller, sendAs(undefined)))
      return withFetch(sendAs(people.find((person) => person.username === username)))
    },
    clock,
    close: () => chat.close(),
  }
}

function toStorage(database: TestChatOptions['database']): StorageOptions {
  if (database === undefined || typeof database === 'string') return { database: database ?? 'sqlite::memory:' }
  const { database: address, schema, prefix } = database
  return { ...(address && { database: address }), ...(schema && { schema }), ...(prefix && { prefix }) }
}

/** Two services on tables of one database may be in a process if their cookies have different names. */
function cookiesOf(database: TestChatOptions['database']): ConfigInput {
  const { schema, prefix } = Object(database) as { schema?: string; prefix?: string }
  const name = prefix ?? schema
  return name === undefined ? {} : { security: { cookie: { prefix: `${name}_` } } }
}

function toAssistant(assistant: Assistant | string): Assistant {
  if (typeof assistant === 'function') return assistant
  if (typeof assistant !== 'string') throw new TypeError('createTestChat: "assistant" must be a text or a function')
  return async function* () {
    yield assistant
  }
}

/** The options over the defaults, section by section. */
function withDefaults(defaults: object, values: object): ConfigInput {
  if (!isTable(values)) return values as ConfigInput
  const merged = Object.entries(values).map(([key, value]) => {
    const known: unknown = (defaults as Record<string, unknown>)[key]
    return [key, isTable(known) && isTable(value) ? withDefaults(known, value) : value]
  })
  return { ...defaults, ...Object.fromEntries(merged) }
}

const isTable = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
