import pg from 'pg'
import { type AdminClient, createAdminClient } from '../../lib/client/admin.ts'
import { type SignedHeaders, signInByHand } from '../support/stream.ts'
import { ADA, settle } from './people.ts'
import { openRaw, type RawStream } from './raw-reader.ts'
import { type ServeProcess, startServe } from './serving.ts'
import { type CutProxy, startProxy } from './storage/proxy.ts'
import { startUpstream, type Upstream } from './upstream.ts'

/** The connections of the node behind the proxy have this name. */
export const NAME_OF_CUT = 'cut-node'

/** Two nodes on one database; the first reaches it through a proxy. */
export interface CutStage {
  cut: ServeProcess
  other: ServeProcess
  proxy: CutProxy
  upstream: Upstream
  conversation_id: string
  /** The administrator, at the other node and at the one that is cut off. */
  ada: AdminClient
  adaAtCut: AdminClient
  headers: SignedHeaders
  /** Creates a user who is in the conversation. */
  invite(name: string): Promise<Guest>
  /** Runs a query in the database. */
  query<Row extends object>(sql: string, values?: unknown[]): Promise<Row[]>
  close(): Promise<void>
}

/** A user with a session. */
export interface Guest {
  id: string
  headers: SignedHeaders
}

/** Starts both nodes. @param env their configuration */
export async function startCutStage(
  url: string,
  { random, env }: { random: () => number; env: Record<string, string> },
): Promise<CutStage> {
  const proxy = await startProxy(url)
  const upstream = await startUpstream(random)
  const shared = {
    ...{ CHAT_ASSISTANT__PROVIDER: 'openai', CHAT_ASSISTANT__BASE_URL: upstream.url, CHAT_ASSISTANT__MODEL: 'tiny' },
    // Endless answers go on for as long as the test takes.
    CHAT_ASSISTANT__ANSWER_BYTES: String(16 * 1024 * 1024),
    ...env,
  }
  const other = await startServe(url, { env: shared })
  const cut = await startServe(proxy.url, { env: { ...shared, CHAT_DATABASE__APPLICATION_NAME: NAME_OF_CUT } })
  const pool = new pg.Pool({ connectionString: url, max: 2 })
  const { conversation_id, signInAt } = await settle(other.base_url)
  const ada = await signInAt(other.base_url)
  const headers = await signInByHand(other.base_url, ADA.email, ADA.password)
  const adaAtCut = createAdminClient({ base_url: cut.base_url })
  await adaAtCut.auth.login(ADA)

  return {
    ...{ cut, other, proxy, upstream, conversation_id, ada, adaAtCut, headers },
    async invite(name) {
      const email = `${name}@example.org`
      const { user } = await ada.users.create({ username: name, email, password: ADA.password, roles: ['member'] })
      await ada.participants.add(conversation_id, { user_id: user.id })
      return { id: user.id, headers: await signInByHand(other.base_url, email, ADA.password) }
    },
    query: async <Row extends object>(sql: string, values: unknown[] = []) => (await pool.query<Row>(sql, values)).rows,
    async close() {
      for (const node of [cut, other]) node.signal('SIGKILL')
      await Promise.all([cut.exit, other.exit, pool.end(), proxy.close(), upstream.close()])
    },
  }
}

/** A stream of a user of a conversation. */
export interface Watching extends RawStream {
  /** The presence of each user that was sent, in order. */
  presenceOf(userId: string): string[]
  /** The ids of its messages. */
  messages: string[]
}

/** Opens a stream of the conversation, and waits until it is ready. */
export async function watch(
  { conversation_id }: Pick<CutStage, 'conversation_id'>,
  { base_url }: ServeProcess,
  { cookie }: SignedHeaders,
): Promise<Watching> {
  const presence: { user_id: string; status: string }[] = []
  const messages: string[] = []
  let setReady = () => {}
  const ready = new Promise<void>((resolve) => (setReady = resolve))
  const stream = openRaw({
    ...{ base_url, conversation_id, cookie },
    onEvent({ event: { type, payload } }) {
      if (type === 'stream.ready') setReady()
      if (type === 'presence.update') presence.push(payload)
      if (type === 'message.new') messages.push(payload.message.id)
    },
  })
  await ready
  return {
    ...stream,
    messages,
    presenceOf: (userId) => presence.flatMap(({ user_id, status }) => (user_id === userId ? status : [])),
  }
}
