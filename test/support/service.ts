import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { vi } from 'vitest'
import { type AdminClient, createAdminClient } from '../../lib/client/admin.ts'
import type { Context } from '../../lib/context.ts'
import { contextOf } from '../../lib/core/context-of.ts'
import { createNodeListener } from '../../lib/http/node/listener.ts'
import {
  type Chat,
  type ChatError,
  createChatService,
  OPERATOR,
  openStorage,
  type Ports,
  parseConfig,
  type Storage,
} from '../../lib/index.ts'
import { checkedFetch } from './answers.ts'
import { AS_TWO_NODES, alternate } from './node-pair.ts'
import { placementOf } from './placement.ts'

/** A service with a real HTTP server, and clients whose every response is checked. */
export interface TestService {
  chat: Chat
  /** `chat`, and with `NODES=2` the other node. */
  nodes: Chat[]
  base_url: string
  server: Server
  /** A client without a session. */
  client(): AdminClient
  /** A signed-in client of the user, who is created if necessary. The first one is the administrator. */
  signIn(name: string, roles?: ('admin' | 'member' | 'read_only')[]): Promise<Person>
  /** Resolves when nothing is in progress on any of its nodes, and each knows what the others have committed. */
  idle(): Promise<void>
  close(): Promise<void>
}

/** A user and the client with the user's session. */
export type Person = AdminClient & { id: string; email: string }

export const PASSWORD = 'correct horse battery'

/** Settings that make a test quick, allow any number of sign-ins, and serve all routes. */
const QUICK = {
  features: { well_known: true, openai_api: true, ag_ui: true },
  bots: { enabled: true },
  hooks: { enabled: true },
  webhooks: { enabled: true },
  well_known: { entries: { 'security.txt': 'Contact: mailto:security@example.org\n' } },
  security: { password: { bcrypt_cost: 4 } },
  rate_limits: {
    admin_api_enabled: true,
    default_rps: 100_000,
    burst: 1_000_000,
    auth_login_per_ip_per_min: 1_000_000,
    auth_failures_per_ip_per_min: 1_000_000,
  },
}

/** A search ends where there is no more to find, also on a busy machine. */
const WHOLE_SEARCHES = { budget_ms: 5000 }

/** Limits that no test reaches, and a stop that waits for no answer. */
const MANY_ANSWERS = { max_running_per_user: 1000, max_running: 1000, drain_seconds: 0 }

/** A sign-in provider that never responds: nothing listens on the discard port, and `fetch` refuses it. */
export const UNREACHABLE_PROVIDER = {
  client_id: 'nobody',
  client_secret: 'nothing',
  redirect_uri: 'https://chat.example.org/api/oauth/provider_a/callback',
  authorization_url: 'https://127.0.0.1:9/authorize',
  token_url: 'https://127.0.0.1:9/token',
  userinfo_url: 'https://127.0.0.1:9/userinfo',
}

/** The options of a test. */
export interface ServiceOptions {
  config?: object
  ports?: Ports
  /** Default: a free one. */
  port?: number
  /** Wraps the storage of the service. */
  wrap?: (storage: Storage) => Storage
}

/** Two nodes know each other a moment after their start: before, neither passes ephemeral events on. */
const PATIENT = { timeout: 30_000 }

/**
 * Starts a service on the database at `url`; two services on the same database are two nodes. With `NODES=2` it is two
 * nodes itself, which get its requests and streams in turn; `chat` is the first.
 */
export async function startService(url: string, options: ServiceOptions = {}): Promise<TestService> {
  const chat = await startNode(url, options)
  const isShared = AS_TWO_NODES && url !== 'sqlite::memory:'
  const other = isShared ? await startNode(url, options) : undefined
  if (other) await vi.waitUntil(() => [chat, other].every((node) => !innerState(node).cluster.isSingleNode()), PATIENT)
  const listener = createNodeListener(chat)
  const server = createServer(other ? alternate([listener, createNodeListener(other)]) : listener)
  // It ends no idle connection: on a busy machine a request may be on its way by then.
  server.keepAliveTimeout = 0
  server.listen(options.port ?? 0, '127.0.0.1')
  await once(server, 'listening')
  const base_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const client = () => createAdminClient({ base_url, fetch: checkedFetch, retry_ms: 10 })

  async function signIn(name: string, roles: ('admin' | 'member' | 'read_only')[] = ['member']): Promise<Person> {
    const email = `${name}@example.org`
    const { is_setup } = await chat.setup.get()
    if (!is_setup) await chat.setup.run({ email, password: PASSWORD })
    else await createUser(chat, name, email, roles)
    const person = client()
    const { user } = await person.auth.login({ email, password: PASSWORD })
    return Object.assign(person, { id: user.id, email })
  }

  const nodes = other ? [chat, other] : [chat]
  return {
    chat,
    nodes,
    base_url,
    server,
    client,
    signIn,
    async idle() {
      for (let round = 0; round < nodes.length; round++) await Promise.all(nodes.map((node) => node.idle()))
    },
    async close() {
      chat.drain()
      other?.drain()
      server.close()
      server.closeAllConnections()
      await Promise.all([chat.close(), other?.close()])
    },
  }
}

async function startNode(url: string, { config, ports, wrap = (storage) => storage }: ServiceOptions): Promise<Chat> {
  const storage = wrap(await openStorage({ database: url, strict: true, ...placementOf(url) }))
  const { assistant, search, ...rest } = { assistant: {}, search: {}, ...config }
  const all = {
    ...QUICK,
    ...rest,
    assistant: { ...MANY_ANSWERS, ...assistant },
    search: { ...WHOLE_SEARCHES, ...search },
  }
  const chat = createChatService(parseConfig(all), storage, ports)
  await chat.start()
  return chat
}

/**
 * What a service has inside, where no host looks: its database, its streams, its jobs. Tests reach it only by this, and only
 * for what no function of the service does or shows.
 */
export function innerState(service: object): Context {
  return contextOf('chat' in service ? (service.chat as object) : service)
}

async function createUser(
  chat: Chat,
  username: string,
  email: string,
  roles: ('admin' | 'member' | 'read_only')[],
): Promise<void> {
  try {
    await chat.users.create({ user_id: '', roles: ['admin'] }, { username, email, password: PASSWORD, roles })
  } catch (error) {
    if ((error as ChatError).code !== 'email_taken') throw error
  }
}

/**
 * Ada owns a conversation in which Grace participates; Eve is an outsider. Its first thread has the one message `root`.
 */
export async function startThread(service: TestService) {
  const ada = await service.signIn('ada')
  const grace = await service.signIn('grace')
  const eve = await service.signIn('eve')
  const { conversation_id } = await ada.conversations.create({ title: 'Engines' })
  await ada.participants.add(conversation_id, { user_id: grace.id })
  const root = await ada.messages.postRoot(conversation_id, { content: 'first' })
  return { ada, grace, eve, conversation_id, root }
}

/** Starts a service without background work, with a user and a thread. */
export async function startThreadAlone(chat: Chat) {
  await chat.start({ background: false })
  await chat.setup.run({ email: 'ada@example.org', password: PASSWORD })
  const { users } = await chat.users.list(OPERATOR, {})
  const ada = await chat.users.actor(users[0]!.id)
  const { conversation_id } = await chat.conversations.create(ada)
  const { root_id } = await chat.messages.postRoot(ada, conversation_id, { content: 'root' })
  return { ada, conversation_id, root_id }
}

/** The error code of a failing call: `await codeOf(ada.login(…))`. Fails if the call succeeds. */
export async function codeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call
  } catch (error) {
    const { code } = error as ChatError
    if (code) return code
    throw error
  }
  throw new Error('The call should have failed')
}

/** `count` results of `make`. */
export function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index))
}

/** Repeats a call while the service is unavailable because too many calls wait: such a call has changed nothing. */
export async function patiently<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call()
    } catch (error) {
      if ((error as { code?: string }).code !== 'unavailable') throw error
      await delay(50)
    }
  }
}
