import { UserInput } from '../accounts/users/schema.ts'
import { addUser } from '../accounts/users/service.ts'
import type { Assistant } from '../assistant/provider.ts'
import { type AdminClient, createAdminClient } from '../client/admin.ts'
import { type ConfigInput, parseConfig } from '../config/parse.ts'
import type { Actor, Role } from '../core/actor.ts'
import { contextOf } from '../core/context-of.ts'
import { type NamesOf, refuseUnknown } from '../core/known-names.ts'
import { parseInput } from '../core/use-case.ts'
import { createChatApp } from '../http/app.ts'
import { type Chat, createChatService } from '../service.ts'
import { openStorage } from '../storage/open.ts'
import { createTestClock, type TestClock } from './clock.ts'
import { signedInFetch } from './signed-in-fetch.ts'

export type { TestClock } from './clock.ts'

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

/** The options of a test chat. */
export interface TestChatOptions {
  /** Usernames, or users with roles; the address of `ada` is `ada@example.org`. None has a password. */
  users?: readonly (string | { username: string; roles?: Role[] })[]
  /** The instant at which the clock stands still, as RFC 3339. Default: the clock runs. */
  clock?: string | undefined
  /** Writes the answers of the assistant; a text is every answer. Default: the configured provider. */
  assistant?: Assistant | string | undefined
  /** Any part of the configuration. */
  config?: ConfigInput
}

const TEST_CHAT_OPTIONS: NamesOf<TestChatOptions> = {
  ...{ users: { username: 0, roles: 0 }, clock: 0, assistant: 0, config: 0 },
}

/** A service in memory, and its users. */
export interface TestChat {
  chat: Chat
  /** The actor of a user, for calls of `chat`. @throws Error for a user that `users` does not name */
  actor(username: string): Actor
  /**
   * A client in which the user is signed in, in a session of its own; without a name it is signed in as no user. It has
   * all endpoints, also those of administrators, and every call passes the service's HTTP adapter, without a network.
   *
   * @throws Error for a user that `users` does not name
   */
  client(username?: string): AdminClient
  clock: TestClock
  /** Closes the service: streams end, and nothing is left open. */
  close(): Promise<void>
}

/**
 * A started service in memory, for tests. It opens no port and reads no file, and two of them share nothing. The limits of
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
  const clock = createTestClock(options.clock)
  const config = parseConfig(withDefaults(QUICK, options.config ?? {}))
  const storage = await openStorage({ database: 'sqlite::memory:' })
  const assistant = typeof options.assistant === 'string' ? fixedAnswer(options.assistant) : options.assistant
  const chat = createChatService(config, storage, { now: clock.micros, ...(assistant && { assistant }) })
  await chat.start()
  const actors = await createUsers(chat, options.users ?? []).catch(async (error) => {
    await chat.close()
    throw error
  })
  const app = createChatApp(chat, { addressOf: () => '127.0.0.1' })
  const send: typeof fetch = async (input, init) => app.fetch(new Request(input, init))

  function actor(username: string): Actor {
    const known = actors.get(username)
    if (!known) throw new Error(`createTestChat has no user "${username}": its users are ${[...actors.keys()]}`)
    return known
  }

  return {
    chat,
    actor,
    client(username) {
      const fetch = username === undefined ? send : signedInFetch(chat, actor(username), send)
      return createAdminClient({ base_url: BASE_URL, fetch, retry_ms: 1 })
    },
    clock,
    close: () => chat.close(),
  }
}

/** Without a password, which would have to be hashed, and so without the set-up that asks for one. */
function createUsers(chat: Chat, users: NonNullable<TestChatOptions['users']>): Promise<Map<string, Actor>> {
  const ctx = contextOf(chat)
  return ctx.write(async (tx) => {
    const actors = new Map<string, Actor>()
    for (const each of users) {
      const { username, roles } = typeof each === 'string' ? { username: each } : each
      const input = parseInput(UserInput, { username, email: `${username}@example.org`, ...(roles && { roles }) })
      const row = await addUser(ctx, tx, { ...input, password_hash: null })
      actors.set(username, { user_id: row.id, roles: input.roles })
    }
    return actors
  })
}

function fixedAnswer(text: string): Assistant {
  return async function* () {
    yield text
  }
}

/** The options over the defaults, section by section. */
function withDefaults(defaults: object, given: object): ConfigInput {
  const isTable = (value: unknown): value is object =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
  const merged = Object.entries(given).map(([key, value]) => {
    const known: unknown = (defaults as Record<string, unknown>)[key]
    return [key, isTable(known) && isTable(value) ? withDefaults(known, value) : value]
  })
  return { ...defaults, ...Object.fromEntries(merged) }
}
