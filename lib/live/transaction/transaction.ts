import type { AuditEntry, EphemeralEvent, MadeNotification, PrivateEvent } from '../../context.ts'
import { type Metrics, refusalOf } from '../../metrics/registry.ts'
import type { Database, TransactionOptions, Writing } from '../../storage/database.ts'
import type { Micros } from '../../storage/sql.ts'
import { insertTask, type NewTask } from '../../tasks/store.ts'
import type { FeedRow } from '../feed/feed-order.ts'
import { type Addition, type Appended, appendEvents, type NewEvent } from '../log/appending.ts'
import type { NumberedEvent } from '../log/log.ts'
import { appendPrivateEvents, type NewPrivateEvent } from '../log/private.ts'
import { insertRevocations, type Revocation } from '../log/revocations.ts'
import type { Audited, Commit, Commits } from './commits.ts'
import { createPublishOrder, type Ticket } from './publish-order.ts'
import { idsOf, toPrivateRange, toRange } from './ranges.ts'

/** A transaction that collects its events. */
export interface Tx extends Writing {
  /** Sets the conversation's clock to `at`, the time of the changes by this transaction, on commit. */
  advanceClock(conversationId: string, at: Micros): void
  /** Changes the number of messages that the conversation has, and of roots among them. */
  countMessages(conversationId: string, by: { messages: number; roots: number }): void
  /** Sets the last activity of the conversation to `at`: the time of a new message. */
  markActive(conversationId: string, at: Micros): void
  /** Appends an event to the conversation's log; it is delivered, with its number, when the transaction is durable. */
  emit(conversationId: string, event: NewEvent): void
  /** Appends an event for one user alone, without a number of the conversation; it is delivered as those of {@link emit}. */
  emitPrivate(userId: string, conversationId: string, event: PrivateEvent, detail: Record<string, string>): void
  /** Appends the events by a statement that does more, and may append only some, instead of by one of their own. */
  appendBy(append: (tx: Writing, additions: Addition[]) => Promise<Appended>): void
  /** Sends an ephemeral event to the streams of one user only. */
  publishToUser(userId: string, conversationId: string, event: EphemeralEvent): void
  /** Tells the streams of all conversations of a user, on every node, that the user has other roles in the service. */
  publishRights(userId: string): void
  /**
   * Tells the streams of all conversations of a user, on every node, that the user's settings for a conversation have
   * changed. The event has what is stored when it is sent: so does a later one, which another node may send before.
   */
  publishSettings(userId: string, conversationId: string): void
  /** Sends an event about the inboxes of these users to their streams of all conversations, on every node. */
  publishToInboxes(userIds: readonly string[], event: EphemeralEvent): void
  /** Tells the streams of these users, on every node, that the number of their unread notifications has changed. */
  publishCounts(userIds: readonly string[]): void
  /**
   * Tells the streams of users who share a conversation with this one, on every node, that its names or state have changed.
   * The event has what is stored when it is sent.
   */
  publishUser(userId: string): void
  /** Adds statements that make notifications, as {@link defer}; their users get events when they are durable. */
  notify(notifications: Promise<MadeNotification[]>): void
  /** Adds an entry to the audit log, in the transaction; it is also logged when the transaction is durable. */
  audit(entry: AuditEntry): void
  /** Adds a background task; a process starts it when the transaction is durable. */
  enqueue(task: NewTask): void
  /** Checks after the commit, on every node, which open streams are still allowed: a session or a participation may have ended. */
  recheckStreams(revocation: Revocation): void
}

/** An ephemeral event: it is not stored, and sent to all streams of a conversation, or to those of one user. */
export interface Ephemeral {
  /** Empty for an event that only the streams of all conversations of the user get. */
  conversation_id: string
  user_id?: string
  /** Only for the streams of all conversations of these users. */
  user_ids?: readonly string[]
  /** Not for the streams of these users. */
  except_ids?: readonly string[] | undefined
  /** For typing: when it was announced, so that other processes know whether a post of the user came later. */
  at?: Micros
  event: EphemeralEvent
}

/** The notifications to send when a transaction is durable. */
export interface Outcome {
  /** The conversations with new events, each with the events if the log need not be read for them. */
  conversations: Map<string, NumberedEvent[]>
  /** The new lines of all logs, by id; none if they must be read. */
  rows: FeedRow[]
  /** The users whose memberships have changed. */
  members: Set<string>
  /** The new private events. */
  told: NewPrivateEvent[]
  ephemeral: Ephemeral[]
  revocations: Revocation[]
}

/** Creates `ctx.write`: it runs a transaction, appends its events to the log, and publishes the commit when it is durable. */
export function createWrite(deps: {
  db: Database
  commits: Pick<Commits, 'store' | 'publish'>
  metrics: Metrics
  now: () => Micros
  id: () => string
}) {
  const { db, commits, metrics, now, id } = deps
  const order = createPublishOrder()
  return async <T>(work: (tx: Tx) => Promise<T>, options?: TransactionOptions): Promise<T> => {
    const started = performance.now()
    const place: { ticket?: Ticket } = {}
    const attempt = db.write(async (queries) => {
      // PostgreSQL may have aborted an attempt before.
      place.ticket?.leave()
      const { tx, changes, outcome, entries, tasks, notified } = collect(queries, now)

      const value = await work(tx)
      const additions = changes.list()
      const appended = changes.append(queries, additions).then((done) => {
        if (queries.dialect === 'postgresql') place.ticket = order.enter(done.heads)
        return done
      })
      queries.defer(appended)
      // One after the other: on SQLite the numbers of the lines are known in advance.
      const { told } = outcome
      const toldRows = told.length > 0 ? await appended.then(() => appendPrivateEvents(queries, told)) : []
      const audited = entries.map((entry) => ({ id: id(), entry }))
      commits.store(queries, { additions, audited })
      for (const task of tasks) queries.defer(insertTask(queries, id(), task))
      const { revocations } = outcome
      if (revocations.length > 0) queries.defer(insertRevocations(queries, now(), revocations))
      // Inside an object: a promise as the result would be awaited before the commit.
      return { value, outcome, audited, additions, appended, toldRows, notified, has_tasks: tasks.length > 0 }
    }, options)
    try {
      const committed = await attempt
      metrics.write((performance.now() - started) / 1000)
      // Together: each writer of a shared commit then publishes the same number of microtasks after it, so in order.
      const [appended, ...made] = await Promise.all([committed.appended, ...committed.notified])
      const turn = place.ticket?.turn()
      if (turn) await turn
      commits.publish(toCommit(committed, appended, made.flat()))
      return committed.value
    } catch (error) {
      const refusal = refusalOf(error)
      if (refusal) metrics.refused(refusal)
      throw error
    } finally {
      place.ticket?.leave()
    }
  }
}

/** What a transaction has committed, with the numbers of its events. */
function toCommit(
  {
    outcome,
    additions,
    toldRows,
    audited,
    has_tasks,
  }: {
    outcome: Omit<Outcome, 'rows'>
    additions: Addition[]
    toldRows: FeedRow[]
    audited: Audited[]
    has_tasks: boolean
  },
  { heads, rows }: Appended,
  notifications: MadeNotification[],
): Commit {
  const logged = additions.filter(({ conversation_id, events }) => heads.has(conversation_id) && events.length > 0)
  const ids = idsOf(rows)
  const ranges = logged.map((addition) => toRange(addition, heads.get(addition.conversation_id)!, ids))
  for (const { conversation_id, known } of ranges) outcome.conversations.set(conversation_id, known)
  outcome.ephemeral.push(...eventsOf(notifications))
  const privates = toldRows.map((row, index) => toPrivateRange(outcome.told[index]!, row))
  const allRows = toldRows.length > 0 ? [...rows, ...toldRows] : rows
  return { ...outcome, rows: allRows, additions: logged, ranges, privates, audited, notifications, has_tasks }
}

/** A transaction that collects events, audit entries and tasks until its work is done. */
function collect(queries: Writing, now: () => Micros) {
  const changes = createChanges(now)
  const outcome: Omit<Outcome, 'rows'> = {
    conversations: new Map(),
    members: new Set(),
    told: [],
    ephemeral: [],
    revocations: [],
  }
  const entries: AuditEntry[] = []
  const tasks: NewTask[] = []
  const notified: Promise<MadeNotification[]>[] = []
  // Named, not spread: this runs for each write.
  const { dialect, names, all, get, run, defer } = queries
  const tx: Tx = {
    dialect,
    names,
    all,
    get,
    run,
    defer,
    advanceClock(conversationId, at) {
      changes.to(conversationId).at = at
    },
    countMessages(conversationId, by) {
      const change = changes.to(conversationId)
      change.messages += by.messages
      change.roots += by.roots
    },
    markActive(conversationId, at) {
      changes.to(conversationId).active_at = at
    },
    appendBy(append) {
      changes.append = append
    },
    emit(conversationId, event) {
      changes.to(conversationId).events.push(event)
      if (event.type !== 'membership.changed') return
      outcome.members.add(event.user_id!)
      if (event.detail?.action === 'role_updated') outcome.ephemeral.push(rightsChange(event.user_id!, conversationId))
    },
    emitPrivate(for_user_id, conversation_id, event, detail) {
      outcome.told.push({ for_user_id, conversation_id, at: now(), event, detail })
    },
    publishToUser: (user_id, conversation_id, event) => outcome.ephemeral.push({ conversation_id, user_id, event }),
    publishRights: (user_id) => outcome.ephemeral.push(rightsChange(user_id)),
    publishSettings: (user_id, conversation_id) => outcome.ephemeral.push(settingsUpdate(user_id, conversation_id)),
    publishToInboxes: (user_ids, event) => outcome.ephemeral.push({ conversation_id: '', user_ids, event }),
    publishCounts: (userIds) => outcome.ephemeral.push(...countUpdates(userIds)),
    publishUser: (userId) => outcome.ephemeral.push(userUpdate(userId)),
    notify(notifications) {
      defer(notifications)
      notified.push(notifications)
    },
    audit: (entry) => entries.push(entry),
    enqueue: (task) => tasks.push(task),
    recheckStreams: (revocation) => outcome.revocations.push(revocation),
  }
  return { tx, changes, outcome, entries, tasks, notified }
}

/** What a transaction adds to each of its conversations. */
function createChanges(now: () => Micros) {
  const changes = new Map<string, Addition>()
  return {
    append: appendEvents as Parameters<Tx['appendBy']>[0],
    list: () => [...changes.values()],
    to(conversation_id: string): Addition {
      const change = changes.get(conversation_id) ?? { conversation_id, at: now(), events: [], messages: 0, roots: 0 }
      changes.set(conversation_id, change)
      return change
    },
  }
}

/** The event of other roles of a user in the service, or in a conversation. */
function rightsChange(user_id: string, conversation_id?: string): Ephemeral {
  const payload = { ...(conversation_id !== undefined && { conversation_id }) }
  return { conversation_id: '', user_ids: [user_id], event: { type: 'rights.changed', payload } }
}

/** The event of changed settings. It is completed when it is sent. */
function settingsUpdate(user_id: string, conversation_id: string): Ephemeral {
  const event: EphemeralEvent = { type: 'settings.update', payload: { conversation_id, settings: NO_SETTINGS } }
  return { conversation_id: '', user_ids: [user_id], event }
}

/** The event of a changed user, which no stream gets as it is: each process completes it for its readers. */
function userUpdate(id: string): Ephemeral {
  return {
    conversation_id: '',
    event: { type: 'user.updated', payload: { user: { id, username: '', kind: 'person' } } },
  }
}

/** The number of users of one event: a signal to other nodes has a maximum size. */
const MAX_USERS = 500

/** The events of changed numbers of unread notifications. They are completed when they are sent. */
function countUpdates(userIds: readonly string[]): Ephemeral[] {
  const event: EphemeralEvent = { type: 'notifications.count', payload: { unread: 0 } }
  return Array.from({ length: Math.ceil(userIds.length / MAX_USERS) }, (_, n) => {
    const user_ids = userIds.slice(n * MAX_USERS, (n + 1) * MAX_USERS)
    return { conversation_id: '', user_ids, event }
  })
}

const NO_SETTINGS = { level: 'all', archived: false, receipts: false } as const

/** The events of new notifications, and of settings that these have changed. */
function eventsOf(notifications: readonly MadeNotification[]): Ephemeral[] {
  const changes = new Map<string, Ephemeral>()
  const events: Ephemeral[] = []
  for (const { users, notification, shown } of notifications) {
    const { conversation_id = '' } = notification
    for (const id of shown) changes.set(`${id} ${conversation_id}`, settingsUpdate(id, conversation_id))
    const event: EphemeralEvent = { type: 'notification.new', payload: { notification, unread: 0 } }
    events.push({ conversation_id, user_ids: users.map(({ user_id }) => user_id), event })
  }
  return [...changes.values(), ...events]
}
