import { isThisMachine } from '../../core/addresses.ts'
import { newId } from '../../core/ids.ts'
import { createPool, type PgPoolClient, type PoolOptions } from './pool.ts'
import { checkOut } from './tls.ts'

/** Where the connections of a URL lead. */
export interface PoolerFacts {
  /** Whether they lead through a pooler, such as PgBouncer. */
  is_pooled: boolean
  /** Whether a service notices that by itself: then it sends no names of statements. */
  is_detected: boolean
  /** Why a statement with a name fails, if it does. */
  failure?: string
  /** The host of another machine to which they lead without encryption. */
  unencrypted_to?: string
}

/**
 * The order in which two connections run transactions, at once or alone. A pooler gives them the connection to the server
 * that was used last, or first: in both cases one of the two gets another one soon.
 */
const ROUNDS: readonly (readonly [number, ...number[]])[] = [[0, 1], [0], [1], [0], [1], [0, 1], [1], [0]]

/** Long enough that two transactions overlap. */
const SECONDS = 0.01

/**
 * Runs statements with names in several transactions, and finds out whether a pooler runs them on other connections than
 * those on which they were prepared. It opens two connections of its own. The names are new ones, which no one else uses; a
 * pooler that forgets them may keep them on its connections to the server until it closes these.
 *
 * @throws Error if it cannot connect
 */
export async function inspectPooler({ url, application_name }: PoolOptions): Promise<PoolerFacts> {
  const pool = await createPool({ url, ...(application_name !== undefined && { application_name }), max: 2 })
  const clients: PgPoolClient[] = []
  try {
    for (const _ of [0, 1]) clients.push(await checkOut(pool))
    const is_detected = clients.some(({ isUnnamed }) => isUnnamed === true)
    const { failure, hasMoved } = await tryNames(clients)
    const is_pooled = is_detected || hasMoved || failure !== undefined
    const unencrypted_to = unencryptedHost(clients[0]!)
    return {
      is_pooled,
      is_detected,
      ...(failure !== undefined && { failure }),
      ...(unencrypted_to !== undefined && { unencrypted_to }),
    }
  } finally {
    for (const client of clients) client.release(true)
    await pool.end()
  }
}

/** @returns the host of a connection without encryption, unless it is this machine, or a folder of Unix domain sockets */
function unencryptedHost({ host = '', connection }: PgPoolClient): string | undefined {
  const isSafe = connection.stream.encrypted === true || host.startsWith('/') || isThisMachine(host)
  return isSafe ? undefined : host
}

/** @returns why a name failed, if one did, and whether transactions of one connection ran on several of the server */
async function tryNames(clients: PgPoolClient[]): Promise<{ failure?: string; hasMoved: boolean }> {
  const shared = newId()
  // A name of its own fails where the pooler has several connections to the server, the shared one where it has one.
  const names = clients.map(() => [newId(), shared] as const)
  const processes = clients.map(() => new Set<number>())
  const hasMoved = () => processes.some(({ size }) => size > 1)
  for (const round of ROUNDS) {
    const results = await Promise.all(round.map((index) => runNamed(clients[index]!, names[index]!)))
    for (const [position, result] of results.entries()) {
      if (typeof result === 'string') return { failure: result, hasMoved: hasMoved() }
      processes[round[position]!]!.add(result)
    }
    if (hasMoved()) break
  }
  return { hasMoved: hasMoved() }
}

/** Runs a transaction of statements with these names. @returns the process of the server, or why a name failed */
async function runNamed(client: PgPoolClient, names: readonly [string, ...string[]]): Promise<number | string> {
  await client.query('BEGIN')
  try {
    let process = 0
    for (const name of names) {
      const { rows } = await client.query({ name, text: `SELECT pg_backend_pid() AS pid, pg_sleep(${SECONDS})` })
      process = (rows as { pid: number }[])[0]!.pid
    }
    return process
  } catch (error) {
    if (!isOfServer(error)) throw error
    return error.message
  } finally {
    await client.query('ROLLBACK')
  }
}

/** Whether the server, or the pooler, has refused a statement: other errors are those of the connection. */
function isOfServer(error: unknown): error is Error {
  return error instanceof Error && 'severity' in error
}
