import type { Metrics } from '../ops/metrics.ts'
import type { Database, Queries } from '../storage/database.ts'
import type { Micros } from '../storage/sql.ts'
import type { Hub } from './hub.ts'
import type { PassingEvent } from './schema.ts'
import { appendEvents, type NewEvent } from './store.ts'

/** A transaction that carries its events. */
export interface Tx extends Queries {
  /** Logs an event of a conversation; it goes out, with its number, once the transaction is durable. */
  emit(conversationId: string, event: NewEvent): void
  /** Says something once to whoever listens, after the transaction's events. Nothing is kept of it. */
  announce(conversationId: string, event: PassingEvent): void
  /** Has the right of every open stream looked up again afterwards: a session or a participation may have ended. */
  recheckStreams(): void
}

/** What a transaction leaves to be done once it is durable. */
export interface Outcome {
  conversations: Set<string>
  passing: [conversationId: string, event: PassingEvent][]
  recheck: boolean
}

/** Makes `ctx.write`: a transaction, its events in the log, and their delivery after the commit and never without. */
export function createWrite({
  db,
  hub,
  metrics,
  now,
}: {
  db: Database
  hub: Hub
  metrics: Metrics
  now: () => Micros
}) {
  return async <T>(work: (tx: Tx) => Promise<T>): Promise<T> => {
    const started = performance.now()
    const { value, outcome } = await db.write(async (queries) => {
      const events = new Map<string, NewEvent[]>()
      const outcome: Outcome = { conversations: new Set(), passing: [], recheck: false }
      const value = await work({
        ...queries,
        emit(conversationId, event) {
          const list = events.get(conversationId)
          if (list) list.push(event)
          else events.set(conversationId, [event])
        },
        announce: (conversationId, event) => outcome.passing.push([conversationId, event]),
        recheckStreams: () => (outcome.recheck = true),
      })
      for (const [conversationId, list] of events) {
        await appendEvents(queries, conversationId, list, now())
        outcome.conversations.add(conversationId)
      }
      return { value, outcome }
    })
    metrics.write((performance.now() - started) / 1000)
    hub.committed(outcome)
    return value
  }
}
