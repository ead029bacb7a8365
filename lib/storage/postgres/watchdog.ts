import type { Writable } from 'node:stream'

/** A connection that may be waiting for a result. */
export interface Connection {
  /** The id of the server process, which the server sent when the connection was opened. */
  processID?: number | null
  /** pg's own connection: `end()` would wait for the statements without a result. */
  connection: { stream: Pick<Writable, 'cork' | 'uncork' | 'writableCorked' | 'destroy'> & { encrypted?: boolean } }
}

/** Queries, on a connection of its own, which of these server processes have been waiting for a query for a while. */
export type FindIdle = (processes: number[]) => Promise<number[]>

/** A query without a result is checked after this time. */
const LATE_MS = 2_000

/** The interval of the checks, and the delay before a query that the server still runs is checked again. */
const CHECK_MS = 500
const BUSY_MS = 5_000

/** Ends half-open connections: the client waits for the result of a query, but the server has no query. */
export interface HalfOpenWatchdog {
  /** Runs a query on a connection, and checks the connection until the query has a result. */
  watch<T>(connection: Connection, query: () => Promise<T>): Promise<T>
  close(): void
}

/**
 * Finds half-open connections, for example after a network that dropped all packets for a while: the client waits for the
 * result of a query, and the server waits for a query. Without the watchdog only a timeout would end the wait, and until
 * then the pool lacks the connection. A query on a new connection finds such server processes: if it succeeds, the
 * network works again. Processes that the server does not know, as behind some poolers, are ignored.
 */
export function createHalfOpenWatchdog(findIdle: FindIdle): HalfOpenWatchdog {
  const waiting = new Map<Connection, { due: number }>()
  let isChecking = false
  const timer = setInterval(() => void check(), CHECK_MS).unref()

  async function check(): Promise<void> {
    const now = performance.now()
    const late = [...waiting].filter(([{ processID }, { due }]) => processID && due <= now)
    if (isChecking || late.length === 0) return
    isChecking = true
    try {
      const idle = new Set(await findIdle(late.map(([{ processID }]) => processID!)))
      for (const [connection, query] of late) {
        if (waiting.get(connection) !== query) continue
        if (idle.has(connection.processID!)) connection.connection.stream.destroy()
        else query.due = performance.now() + BUSY_MS
      }
    } catch {
      // The server is still unreachable: the timeout of the query ends it.
    } finally {
      isChecking = false
    }
  }

  return {
    async watch(connection, query) {
      const entry = { due: performance.now() + LATE_MS }
      waiting.set(connection, entry)
      try {
        return await query()
      } finally {
        if (waiting.get(connection) === entry) waiting.delete(connection)
      }
    },
    close: () => clearInterval(timer),
  }
}
