import type { AuditEntry, MadeNotification } from '../../context.ts'
import type { Writing } from '../../storage/database.ts'
import type { Addition } from '../log/appending.ts'
import type { NumberedEvent } from '../log/log.ts'
import type { Outcome } from './transaction.ts'

/** New events of one conversation: their numbers, and the events themselves if the log need not be read for them. */
export interface EventRange {
  conversation_id: string
  first: number
  last: number
  known: NumberedEvent[]
  /** Their numbers among all events, in their order. */
  ids: number[]
}

/** An entry of the audit log, with its id. */
export interface Audited {
  id: string
  entry: AuditEntry
}

/** What a transaction is about to commit. */
export interface Change {
  additions: readonly Addition[]
  audited: readonly Audited[]
}

/** What a transaction has committed. */
export interface Commit extends Outcome {
  /** The events that were added to each conversation; a host may have undone some by a savepoint of its own. */
  additions: readonly Addition[]
  /** The events that are stored for certain. */
  ranges: readonly EventRange[]
  /** The new private events. */
  privates: readonly EventRange[]
  /** The entries of the audit log that are stored for certain. */
  audited: readonly Audited[]
  notifications: readonly MadeNotification[]
  has_tasks: boolean
}

/** A commit of nothing. */
export const NO_COMMIT: Commit = {
  conversations: new Map(),
  rows: [],
  members: new Set(),
  told: [],
  ephemeral: [],
  revocations: [],
  additions: [],
  ranges: [],
  privates: [],
  audited: [],
  notifications: [],
  has_tasks: false,
}

/** Passes each change and each commit of this process on to the parts that have subscribed when they were built. */
export interface Commits {
  /** Calls a part in each transaction, before its commit: it stores what belongs to the change. */
  storeWith(part: (tx: Writing, change: Change) => void): void
  /** Calls a part after each commit that is durable; parts are called in the order in which they have subscribed. */
  subscribe(part: (commit: Commit) => void): void
  store(tx: Writing, change: Change): void
  publish(commit: Commit): void
}

/** Creates the commits of a service. */
export function createCommits(): Commits {
  const storing: ((tx: Writing, change: Change) => void)[] = []
  const subscribers: ((commit: Commit) => void)[] = []
  return {
    storeWith: (part) => void storing.push(part),
    subscribe: (part) => void subscribers.push(part),
    store(tx, change) {
      for (const part of storing) part(tx, change)
    },
    publish(commit) {
      for (const part of subscribers) part(commit)
    },
  }
}
