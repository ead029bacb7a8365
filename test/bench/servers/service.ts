import { join } from 'node:path'
import type { ChatTarget } from '../load/deliver.ts'
import { httpRequest } from '../load/http.ts'
import { postTemplate } from '../load/template.ts'
import { type Server, startServer, temporaryFolder } from './child.ts'

/** A signed-in user. */
export const ACCOUNT = { email: 'ada@example.org', password: 'correct horse battery' }

/** Everything stays on, as users run it; only what one user on one machine would run into is raised. */
const ENVIRONMENT = {
  // Set-up hashes a password, which no row measures.
  CHAT_SECURITY__PASSWORD__BCRYPT_COST: '4',
  // All readers of a run are one user's.
  CHAT_SSE__MAX_STREAMS_PER_USER: '10000',
  // So are all requests. They are counted all the same.
  CHAT_RATE_LIMITS__DEFAULT_RPS: '1000000',
  CHAT_RATE_LIMITS__BURST: '1000000',
  CHAT_RATE_LIMITS__AUTH_LOGIN_PER_IP_PER_MIN: '1000000',
}

/** The service with an account that is signed in and a conversation to post to. */
export interface Service extends Server {
  /** What a request of the signed-in user carries. */
  headers: Record<string, string>
  conversationId: string
  rootId: string
}

/** The credentials of a user. */
export type Credentials = typeof ACCOUNT

export function newDatabase(): string {
  return join(temporaryFolder(), 'chat.db')
}

/** The URL of a database: a file of SQLite's, or the URL of one of PostgreSQL's. */
export function urlOf(database: string): string {
  return database.startsWith('postgres:') ? database : `sqlite:${database}`
}

/** Starts the service on a database that may exist already: a file of SQLite's, or the URL of one of PostgreSQL's. */
export function startBareService(command: string[], database: string, more: NodeJS.ProcessEnv = {}): Promise<Server> {
  const args = ['serve', '--port', '0', '--database', urlOf(database)]
  return startServer([...command, ...args], { ...ENVIRONMENT, ...more })
}

/**
 * Starts the service on a new database, sets it up, signs in and creates a conversation.
 *
 * @param more of its environment
 * @param database one without a table; default: a new file of SQLite's
 */
export async function startService(
  command: string[],
  more: NodeJS.ProcessEnv = {},
  database = newDatabase(),
): Promise<Service> {
  const server = await startBareService(command, database, more)
  try {
    await call(server, '/api/setup', ACCOUNT)
    const headers = await signIn(server, ACCOUNT)
    const created = await call(server, '/api/conversations', { title: 'Bench' }, headers)
    const { conversation_id } = (await created.json()) as { conversation_id: string }
    const root = await call(server, `/api/threads/${conversation_id}/root`, { content: 'Bench' }, headers)
    const { root_id } = (await root.json()) as { root_id: string }
    return { ...server, headers, conversationId: conversation_id, rootId: root_id }
  } catch (error) {
    await server.stop()
    throw error
  }
}

/** Creates conversations of the signed-in user, with one thread each. @returns the root of each */
export async function createThreads(service: Service, count: number): Promise<string[]> {
  const roots: string[] = []
  for (let n = 0; n < count; n++) {
    const created = await call(service, '/api/conversations', { title: `Bench ${n}` }, service.headers)
    const { conversation_id } = (await created.json()) as { conversation_id: string }
    const posted = await call(service, `/api/threads/${conversation_id}/root`, { content: 'Bench' }, service.headers)
    roots.push(((await posted.json()) as { root_id: string }).root_id)
  }
  return roots
}

/** @returns the headers of a signed-in user's requests */
export async function signIn(server: Server, credentials: Credentials): Promise<Record<string, string>> {
  return sessionHeaders(await call(server, '/api/auth/login', credentials))
}

/** Creates users, as the signed-in administrator. */
export async function createUsers(service: Service, count: number): Promise<Credentials[]> {
  const users: Credentials[] = []
  for (let n = 0; n < count; n++) {
    const credentials = { email: `user-${n}@example.org`, password: ACCOUNT.password }
    await call(service, '/api/admin/users', { username: `user-${n}`, ...credentials }, service.headers)
    users.push(credentials)
  }
  return users
}

/** Signs users in and adds them to the conversation. @returns the headers of their requests */
export async function signInParticipants(service: Service, users: Credentials[]): Promise<Record<string, string>[]> {
  const headers: Record<string, string>[] = []
  for (const credentials of users) {
    const invitee = { username: credentials.email.split('@')[0] }
    await call(service, `/api/conversations/${service.conversationId}/participants`, invitee, service.headers)
    headers.push(await signIn(service, credentials))
  }
  return headers
}

/** How the load client follows the service's conversation and posts replies to its thread. */
export function serviceTarget({ pid, port, headers, conversationId, rootId }: Service): ChatTarget {
  const stream = httpRequest('GET', `/api/stream/conversations/${conversationId}`, {
    headers: { ...headers, accept: 'text/event-stream' },
  })
  return {
    pid,
    port,
    steps: [{ send: stream, until: 'stream.ready' }],
    post: postTemplate(`/api/messages/${rootId}/reply`, headers),
  }
}

/** The same, each post starting a thread. */
export function rootsTarget(service: Service): ChatTarget {
  const { headers, conversationId } = service
  return { ...serviceTarget(service), post: postTemplate(`/api/threads/${conversationId}/root`, headers) }
}

async function call(
  { port }: Server,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Response> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`POST ${path} was answered ${response.status} ${await response.text()}`)
  return response
}

function sessionHeaders(login: Response): Record<string, string> {
  const cookies = login.headers.getSetCookie().map((cookie) => cookie.split(';', 1)[0]!)
  const csrf = cookies.find((cookie) => cookie.startsWith('CSRF-TOKEN='))
  if (!csrf) throw new Error('login set no CSRF-TOKEN cookie')
  return { cookie: cookies.join('; '), 'x-csrf-token': csrf.slice(csrf.indexOf('=') + 1) }
}
