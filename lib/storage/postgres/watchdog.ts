/** A connection that may be waiting for an answer. */
export interface Connection {
  /** The process that serves it at the database, as it said when the connection was made. */
  processID?: number | null
  /** pg's own connection: `end()` would wait for the statements that were sent, which are those without an answer. */
  connection: { stream: { destroy(): unknown } }
}

/** Asks the database, over a connection of its own, which of these processes have been waiting for a query for a while. */
export type FindIdle = (processes: number[]) => Promise<number[]>

/** After how long a query without a result is checked. */
const LATE_MS = 2_000

/** How often late queries are checked, and how soon again where the database is still busy with one. */
const CHECK_MS = 500
const BUSY_MS = 5_000

/** Ends half-open connections: the database no longer has a query that the client still waits for. */
export interface HalfOpenWatchdog {
  /** Runs a query on a connection, and checks the connection until the query has a result. */
  watch<T>(connection: Connection, query: () => Promise<T>): Promise<T>
  close(): void
}

/**
 * Finds half-open connections, as after a network that dropped all packets for a while: here a query waits for its
 * result, and the database waits for a query. Only a timeout would notice, and until then the pool lacks the connection.
 * So the database is asked over a new connection: when it answers, the network works again. A process that the database
 * does not know, as behind another kind of pooler, is left alone.
 */
export function createHalfOpenWatchdog(findIdle: FindIdle): HalfOpenWatchdog {
  const waiting = new Map<Connection, { due: number }>()
  let asking = false
  const timer = setInterval(() => void check(), CHECK_MS).unref()

  async function check(): Promise<void> {
    const now = performance.now()
    const late = [...waiting].filter(([{ processID }, { due }]) => processID && due <= now)
    if (asking || late.length === 0) return
    asking = true
    try {
      const idle = new Set(await findIdle(late.map(([{ processID }]) => processID!)))
      for (const [connection, query] of late) {
        if (waiting.get(connection) !== query) continue
        if (idle.has(connection.processID!)) connection.connection.stream.destroy()
        else query.due = performance.now() + BUSY_MS
      }
    } catch {
      // The database cannot be asked either: the query's own timeout ends it.
    } finally {
      asking = false
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
