/** A connection that may be waiting for an answer. */
export interface Connection {
  /** The process that serves it at the database, as it said when the connection was made. */
  processID?: number | null
  end(): unknown
}

/** Asks the database, by a way of its own, which of these processes have been waiting to be asked for a while. */
export type AskWhoIsIdle = (processes: number[]) => Promise<number[]>

/** From when on an answer is so late that it is asked for. */
const LATE_MS = 2_000

/** How often it is looked, and how soon again for one that the database is busy with. */
const LOOK_MS = 500
const BUSY_MS = 5_000

/** Ends connections over which no answer will come. */
export interface SilenceWatch {
  /** Runs a query on a connection, and looks after it until it is answered. */
  watch<T>(connection: Connection, query: () => Promise<T>): Promise<T>
  close(): void
}

/**
 * Finds connections that were lost without a word, as behind a network that dropped everything for a while: here a query
 * waits for its answer, and the database waits for a query. Nothing but time would tell, and as long as a slow query may
 * take they would be missing in the pool. So the database is asked, over a new connection: when it answers, the way to
 * it is there again. One that it knows nothing of, as behind a pool of another kind, is left alone.
 */
export function createSilenceWatch(askWhoIsIdle: AskWhoIsIdle): SilenceWatch {
  const waiting = new Map<Connection, { due: number }>()
  let asking = false
  const timer = setInterval(() => void look(), LOOK_MS).unref()

  async function look(): Promise<void> {
    const now = performance.now()
    const late = [...waiting].filter(([{ processID }, { due }]) => processID && due <= now)
    if (asking || late.length === 0) return
    asking = true
    try {
      const idle = new Set(await askWhoIsIdle(late.map(([{ processID }]) => processID!)))
      for (const [connection, query] of late) {
        if (waiting.get(connection) !== query) continue
        if (idle.has(connection.processID!)) void connection.end()
        else query.due = performance.now() + BUSY_MS
      }
    } catch {
      // The database cannot be asked either: who waits is told so by the time-out.
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
