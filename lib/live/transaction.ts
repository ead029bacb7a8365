import type { AuditEntry, EphemeralEvent, Log, PersistedEvent } from '../context.ts'
import { ChatError } from '../core/errors.ts'
import type { Metrics, Refusal } from '../metrics/registry.ts'
import type { Database, Queries, TransactionOptions, Writing } from '../storage/database.ts'
import type { Micros } from '../storage/sql.ts'
import { insertTask, type NewTask } from '../tasks/store.ts'
import type { Hub } from './hub.ts'
import { type Addition, appendEvents, type NewEvent, type NumberedEvent } from './log.ts'

/** A transaction that carries its events. */
export interface Tx extends Writing {
  /** Sets the conversation's clock to `at` on commit: the time of what this transaction does in it. */
  advanceClock(conversationId: string, at: Micros): void
  /** Changes the number of messages that the conversation has. */
  countMessages(conversationId: string, by: number): void
  /** Appends an event to the conversation's log; it is delivered, with its number, once the transaction is durable. */
  emit(conversationId: string, event: NewEvent): void
  /** Sends an event that is not stored to the open streams of a conversation, after the transaction's own events. */
  publishEphemeral(conversationId: string, event: EphemeralEvent): void
  /** The same, to one user's streams only. */
  publishToUser(userId: string, conversationId: string, event: EphemeralEvent): void
  /** Adds an entry to the audit log, in the transaction; once it is durable, it is also logged. */
  audit(entry: AuditEntry): void
  /** Adds a background task; a process starts it once the transaction is durable. */
  enqueue(task: NewTask): void
  /** Checks after the commit whether each open stream is still allowed: a session or a participation may have ended. */
  recheckStreams(): void
}

/** An event that is not stored: for all streams of a conversation, or for those of one user. */
export interface Ephemeral {
  conversation_id: string
  user_id?: string
  event: EphemeralEvent
}

/** What a transaction leaves to be done once it is durable. */
export interface Outcome {
  /** Where there is something new; with it, where it is known, and the log need not be read for it. */
  conversations: Map<string, NumberedEvent[]>
  ephemeral: Ephemeral[]
  recheck: boolean
}

/** Makes `ctx.write`: a transaction, its events in the log, and their delivery after the commit and never without. */
export function createWrite(deps: {
  db: Database
  hub: Hub
  metrics: Metrics
  log: Log
  now: () => Micros
  id: () => string
  /** Stores an entry of the audit log. */
  insertAuditEntry: (tx: Queries, id: string, at: Micros, entry: AuditEntry) => Promise<void>
  /** Is told of new tasks, once they are durable. */
  onTasks: () => void
}) {
  const { db, hub, metrics, log, now, id, insertAuditEntry, onTasks } = deps
  return async <T>(work: (tx: Tx) => Promise<T>, options?: TransactionOptions): Promise<T> => {
    const started = performance.now()
    const attempt = db.write(async (queries) => {
      const { tx, changes, outcome, audited, tasks } = collect(queries, now)
      const value = await work(tx)
      const additions = [...changes.values()]
      const appended = appendEvents(queries, additions)
      queries.defer(appended)
      for (const entry of audited) queries.defer(insertAuditEntry(queries, id(), now(), entry))
      for (const task of tasks) queries.defer(insertTask(queries, id(), task))
      // Within an object: the transaction does not wait for it.
      return { value, outcome, audited, additions, appended, hasTasks: tasks.length > 0 }
    }, options)
    const { value, outcome, audited, additions, appended, hasTasks } = await attempt.catch((error) => {
      const refusal = refusalOf(error)
      if (refusal) metrics.refused(refusal)
      throw error
    })
    metrics.write((performance.now() - started) / 1000)
    const heads = await appended
    for (const addition of additions) {
      const before = heads.get(addition.conversation_id)
      if (before !== undefined && addition.events.length > 0)
        outcome.conversations.set(addition.conversation_id, numbered(addition, before))
    }
    hub.committed(outcome)
    if (hasTasks) onTasks()
    for (const { detail, ...entry } of audited) log.info('audit', { ...entry, ...detail })
    return value
  }
}

/** A transaction whose events, audit entries and tasks are collected until its work is done. */
function collect(queries: Writing, now: () => Micros) {
  const changes = new Map<string, Addition>()
  const outcome: Outcome = { conversations: new Map(), ephemeral: [], recheck: false }
  const audited: AuditEntry[] = []
  const tasks: NewTask[] = []
  const changeOf = (conversation_id: string) => {
    const change = changes.get(conversation_id) ?? { conversation_id, at: now(), events: [], messages: 0 }
    changes.set(conversation_id, change)
    return change
  }
  // Named, not spread: this runs for each write.
  const { dialect, all, get, run, defer } = queries
  const tx: Tx = {
    dialect,
    all,
    get,
    run,
    defer,
    advanceClock(conversationId, at) {
      changeOf(conversationId).at = at
    },
    countMessages(conversationId, by) {
      changeOf(conversationId).messages += by
    },
    emit: (conversationId, event) => changeOf(conversationId).events.push(event),
    publishEphemeral: (conversation_id, event) => outcome.ephemeral.push({ conversation_id, event }),
    publishToUser: (user_id, conversation_id, event) => outcome.ephemeral.push({ conversation_id, user_id, event }),
    audit: (entry) => audited.push(entry),
    enqueue: (task) => tasks.push(task),
    recheckStreams() {
      outcome.recheck = true
    },
  }
  return { tx, changes, outcome, audited, tasks }
}

/** Why the storage did not take a transaction, if that is what failed: its trouble has a cause, a refusal of ours none. */
function refusalOf(error: unknown): Refusal | undefined {
  if (!(error instanceof ChatError) || error.cause === undefined) return undefined
  return error.code === 'unavailable' || error.code === 'storage_full' ? error.code : undefined
}

/** New events as the log would give them, if all of them are at hand. */
function numbered({ conversation_id, at, events }: Addition, before: number): NumberedEvent[] {
  const known = events.map(({ type, payload }, index) => {
    const event = payload && ({ type, payload } as PersistedEvent)
    return { seq: before + 1 + index, conversation_id, at, ...(event && { event }) }
  })
  return known.every((each) => each.event) ? known : []
}
