import type { EphemeralEvent, Log } from '../context.ts'
import { causeText } from '../core/errors.ts'
import type { Database } from '../storage/database.ts'
import { type Delivery, encode } from './delivery.ts'
import { listLastSeqs } from './log.ts'
import type { Reader } from './reader.ts'
import type { Revocation } from './revocations.ts'
import { FEED, type Subscriptions } from './subscriptions.ts'
import type { Ephemeral, Outcome } from './transaction.ts'

interface FanOutDeps {
  db: Database
  log: Log
  subscriptions: Subscriptions
  send: (reader: Reader, delivery: Delivery) => void
  recheck: (revocations: Revocation[]) => Promise<void>
  /** Passes ephemeral events of this process on to the others. */
  announce: (events: readonly Ephemeral[]) => void
}

/** Sends committed events to the readers they concern. The work grows with the number of these, not of all streams. */
export function createFanOut({ db, log, subscriptions, send, recheck, announce }: FanOutDeps) {
  let failed = false

  /** Delivers the events of a transaction that this process has committed, or ephemeral events. */
  function deliver({ conversations, ephemeral, revocations }: Outcome): void {
    for (const each of ephemeral)
      if (each.user_id === undefined) subscriptions.publish(each.conversation_id, each.event)
    const touched = new Set([...conversations.keys(), ...ephemeral.map((each) => each.conversation_id)])
    if (touched.size > 0) touched.add(FEED)
    const advances = [...touched].flatMap(
      (name) => subscriptions.channelOf(name)?.advance(conversations.get(name)) ?? [],
    )
    if (advances.length === 0 && revocations.length === 0) return
    Promise.all(advances)
      .then(() => {
        // After the delivery of the log: the event may refer to one of its events.
        for (const each of ephemeral) if (each.user_id !== undefined) publishToUser(each, subscriptions, send)
        return recheck(revocations)
      })
      .catch((error) => {
        failed = true
        log.warn('Delivery waits for the storage', { cause: causeText(error) })
      })
  }

  const receive = (ephemeral: Ephemeral[]) => deliver({ conversations: new Map(), ephemeral, revocations: [] })

  return {
    committed(outcome: Outcome): void {
      deliver(outcome)
      if (outcome.ephemeral.length > 0) announce(outcome.ephemeral)
    },

    /** Sends an ephemeral event to the open streams of a conversation. */
    publishEphemeral(conversation_id: string, event: EphemeralEvent): void {
      receive([{ conversation_id, event }])
      announce([{ conversation_id, event }])
    },

    /** Sends ephemeral events to the open streams of this process only. */
    receive,

    ...createCatchUp(db, subscriptions),

    /** Whether a delivery has failed since the last call; then the caller must call `catchUpAll`. */
    hasFailed(): boolean {
      const before = failed
      failed = false
      return before
    },
  }
}

/** Delivers what other processes have committed. */
function createCatchUp(db: Database, subscriptions: Subscriptions) {
  /** Delivers the new events of these conversations. */
  async function catchUp(conversations: { id: string; last_seq: number }[]): Promise<void> {
    if (conversations.length > 0) await subscriptions.channelOf(FEED)?.advance()
    for (const { id, last_seq } of conversations) {
      const channel = subscriptions.channelOf(id)
      if (channel && (channel.position() < last_seq || channel.hasEphemeral())) await channel.advance()
    }
  }

  return {
    catchUp,
    /** Delivers all new events. */
    async catchUpAll(): Promise<void> {
      const names = subscriptions.names()
      await catchUp(names.length > 0 ? await listLastSeqs(db, names) : [])
      await subscriptions.channelOf(FEED)?.advance()
    },
  }
}

/** Sends an ephemeral event to the streams of one user. */
function publishToUser(
  { conversation_id, user_id, event }: Ephemeral,
  subscriptions: Subscriptions,
  send: FanOutDeps['send'],
): void {
  for (const { liveReaders } of subscriptions.reachedBy(conversation_id))
    for (const reader of liveReaders) if (reader.user_id === user_id) send(reader, encode([{ conversation_id, event }]))
}
