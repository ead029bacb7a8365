import type { EphemeralEvent, Log } from '../../context.ts'
import { causeText } from '../../core/errors.ts'
import { forEachConcurrently } from '../../core/scheduling/concurrently.ts'
import type { Database } from '../../storage/database.ts'
import type { Subscriptions } from '../conversation/subscriptions.ts'
import type { DeliverAll } from '../feed/deliver-all.ts'
import type { Followers } from '../feed/followers.ts'
import type { Tail } from '../feed/tail.ts'
import { listLastSeqs } from '../log/log.ts'
import type { Revocation } from '../log/revocations.ts'
import { type Delivery, encode } from '../readers/delivery.ts'
import type { Reader } from '../readers/reader.ts'
import type { Ephemeral, Outcome } from '../transaction/transaction.ts'
import type { InboxSender } from './inboxes.ts'
import type { Typings } from './typings.ts'

interface FanOutDeps {
  db: Database
  log: Log
  subscriptions: Subscriptions
  followers: Followers
  all: DeliverAll
  tail: Tail
  send: (reader: Reader, delivery: Delivery) => void
  inboxes: InboxSender
  typings: Typings
  recheck: (revocations: Revocation[]) => Promise<void>
  /** Tells the other processes of a commit, and passes ephemeral events of this one on. */
  announce: (events: readonly Ephemeral[]) => void
}

/**
 * How many logs are read at the same time for commits of other processes, or before ephemeral events: one after another,
 * a thousand would take seconds. Less than `database.pool_size` by default (10), so that requests find a connection.
 */
const LOGS_CONCURRENCY = 8

/** An outcome without events of a log. */
const NOTHING: Omit<Outcome, 'ephemeral'> = {
  conversations: new Map(),
  rows: [],
  members: new Set(),
  told: [],
  revocations: [],
}

/** Sends committed events to the readers they concern. The work grows with the number of these, not of all streams. */
export function createFanOut(deps: FanOutDeps) {
  const { log, inboxes, recheck, announce } = deps
  const deliveries = createDeliveries()
  let failed = false
  const { publish, publishToSome } = createPublishers(deps)

  /** Delivers the events of a transaction that this process has committed, or ephemeral events. */
  function deliver(outcome: Outcome): void {
    const { ephemeral, revocations } = outcome
    const own = ephemeral.filter(({ user_ids }) => user_ids && inboxes.isRead(user_ids))
    for (const event of ephemeral) if (isForAll(event)) publish(event.conversation_id, event.event)
    const advances = advanceLogs(deps, outcome)
    if (advances.length === 0 && own.length === 0 && revocations.length === 0) return
    const delivery = logsDelivered(advances, inboxes, own)
      .then(() => {
        // After the delivery of the log: the event may refer to one of its events.
        for (const event of ephemeral) if (!isForAll(event)) publishToSome(event)
        return Promise.all([inboxes.send(own), recheck(revocations)])
      })
      .catch((error) => {
        failed = true
        log.warn('Delivery waits for the storage', { cause: causeText(error) })
      })
    deliveries.add(delivery)
  }

  const receive = (ephemeral: Ephemeral[]) => deliver({ ...NOTHING, ephemeral })

  return {
    committed(outcome: Outcome): void {
      deliver(outcome)
      const { conversations, told, ephemeral, revocations } = outcome
      if (conversations.size + told.length + ephemeral.length + revocations.length > 0) announce(ephemeral)
    },

    /** Sends an ephemeral event to the open streams of a conversation, except those of some users. */
    publishEphemeral(conversation_id: string, event: EphemeralEvent, except_ids?: readonly string[]): void {
      const ephemeral = [deps.typings.dated({ conversation_id, event, except_ids })]
      receive(ephemeral)
      announce(ephemeral)
    },

    /** Sends ephemeral events of other processes to the open streams of this one. */
    receive: (ephemeral: Ephemeral[]): void => receive(ephemeral.filter(deps.typings.isCurrent)),

    ...createCatchUp(deps),

    idle: deliveries.idle,

    /** Whether a delivery has failed since the last call; then the caller must call `catchUpAll`. */
    hasFailed(): boolean {
      const before = failed
      failed = false
      return before
    },
  }
}

/**
 * Advances the logs that have new events, or get ephemeral ones.
 *
 * @returns the deliveries of what was committed before
 */
function advanceLogs({ subscriptions, followers, tail }: FanOutDeps, outcome: Outcome): Promise<void>[] {
  const { conversations, members, told, ephemeral } = outcome
  const advances = [...conversations].flatMap(([id, events]) => subscriptions.channelOf(id)?.advance(events) ?? [])
  const others = new Set(ephemeral.map((event) => event.conversation_id).filter((id) => !conversations.has(id)))
  const read = [...others].flatMap((id) => subscriptions.channelOf(id) ?? [])
  if (read.length > 0) advances.push(forEachConcurrently(read, LOGS_CONCURRENCY, (channel) => channel.advance()))
  const touched = [...conversations.keys(), ...others]
  const users = [
    ...members,
    ...told.map(({ for_user_id }) => for_user_id),
    ...ephemeral.flatMap((event) => event.user_id ?? []),
  ]
  if (touched.some(followers.isRead) || users.some(followers.hasUser)) advances.push(tail.advance(outcome))
  else if (conversations.size + told.length > 0) tail.skipped()
  return advances
}

/** Resolves when the logs are delivered. If that fails, events about inboxes wait with them. */
async function logsDelivered(advances: Promise<void>[], inboxes: InboxSender, own: Ephemeral[]): Promise<void> {
  try {
    await Promise.all(advances)
  } catch (error) {
    inboxes.add(own)
    throw error
  }
}

/** The deliveries in progress. */
function createDeliveries() {
  const all = new Set<Promise<unknown>>()
  return {
    /** @param delivery never rejects */
    add(delivery: Promise<unknown>): void {
      all.add(delivery)
      void delivery.then(() => all.delete(delivery))
    },
    /** Resolves when the events of this process's commits are sent. */
    async idle(): Promise<void> {
      while (all.size > 0) await Promise.all(all)
    },
  }
}

/** Delivers what other processes have committed. */
function createCatchUp({ db, subscriptions, followers, tail, inboxes }: FanOutDeps) {
  /** Delivers the new events of these conversations, and all new ones to streams of all conversations. */
  async function catchUp(conversations: { id: string; last_seq: number }[]): Promise<void> {
    const isDue = followers.count() > 0 && (conversations.length > 0 || tail.hasSkipped())
    const reads = isDue ? [() => tail.advance()] : []
    for (const { id, last_seq } of conversations) {
      const channel = subscriptions.channelOf(id)
      if (channel && (channel.position() < last_seq || channel.hasEphemeral())) reads.push(() => channel.advance())
    }
    await forEachConcurrently(reads, LOGS_CONCURRENCY, (read) => read())
  }

  return {
    catchUp,
    /** Delivers all new events, and those about inboxes that wait since a failure. */
    async catchUpAll(): Promise<void> {
      tail.skipped()
      const ids = subscriptions.conversations()
      await catchUp(ids.length > 0 ? await listLastSeqs(db, ids) : [])
      await inboxes.send([])
    },
  }
}

/** Whether an event is for all streams of its conversation. */
const isForAll = ({ user_id, user_ids, except_ids }: Ephemeral) => !user_id && !user_ids && !except_ids

/** Sends ephemeral events to the streams of this process. */
function createPublishers({ subscriptions, followers, all, tail, typings, send }: FanOutDeps) {
  /** To the streams of a conversation whose users are wanted, and participate. */
  function sendTo({ conversation_id, event }: Ephemeral, isWanted: (userId: string) => boolean): void {
    const readers = [...subscriptions.readersOf(conversation_id)].filter(
      ({ user_id, is_outside }) => !is_outside && isWanted(user_id),
    )
    if (readers.length === 0) return
    const delivery = encode([{ conversation_id, event }])
    for (const reader of readers) send(reader, delivery)
  }

  return {
    /** With the next delivery of the conversation. */
    publish(conversationId: string, event: EphemeralEvent): void {
      typings.note(event)
      subscriptions.publish(conversationId, event)
      if (followers.hasConversation(conversationId)) tail.publish(conversationId, event)
    },

    /** At once, to one user, or to all but some. */
    publishToSome(ephemeral: Ephemeral): void {
      const { conversation_id, event, user_id, except_ids } = ephemeral
      if (user_id !== undefined) {
        sendTo(ephemeral, (id) => id === user_id)
        all.deliverToUser(user_id, { conversation_id, event })
      } else if (except_ids) {
        const without = new Set(except_ids)
        sendTo(ephemeral, (id) => !without.has(id))
        all.deliverExcept(without, { conversation_id, event })
      }
    },
  }
}
