import type { EphemeralEvent } from '../context.ts'
import { type Channel, createChannel, type Source } from './channel.ts'
import { type Delivery, findShared } from './delivery.ts'
import type { Reader, StreamSources } from './reader.ts'

/** A log that is followed here, and the readers that follow it. */
export interface Subscribers {
  channel: Channel
  /** Those that have caught up with the channel: what comes next, they get with it. */
  liveReaders: Set<Reader>
  /** All of them, those still catching up included. */
  count: number
}

/** The subscribers of all conversations at once. */
export const FEED = 'feed'

type Deliver = (liveReaders: Set<Reader>, delivery: Delivery) => void

/** The logs that are followed in this process, by conversation, and their readers. */
export type Subscriptions = ReturnType<typeof createSubscriptions>

/** @param deliver sends what is new in a log to its live readers */
export function createSubscriptions(sources: StreamSources, deliver: Deliver) {
  const subscribers = new Map<string, Subscribers>()
  const nameOf = (reader: Reader) => reader.conversation_id ?? FEED

  const reachedBy = (conversationId: string): Subscribers[] =>
    [conversationId, FEED].flatMap((name) => subscribers.get(name) ?? [])

  return {
    nameOf,

    /** Follows the log of a reader for it, from now on; the reader is not live yet. */
    add(reader: Reader): Subscribers {
      const name = nameOf(reader)
      const source = () => (name === FEED ? sources.ofAll() : sources.ofConversation(name))
      const found = subscribers.get(name) ?? createSubscribers(source(), deliver)
      subscribers.set(name, found)
      found.count++
      return found
    },

    remove(reader: Reader): void {
      const name = nameOf(reader)
      const found = subscribers.get(name)!
      found.liveReaders.delete(reader)
      if (--found.count === 0) subscribers.delete(name)
    },

    channelOf: (name: string): Channel | undefined => subscribers.get(name)?.channel,

    /** Those that get what happens in a conversation: its own subscribers, and those of all conversations. */
    reachedBy,

    /** Sends an event that is not stored with the next delivery of the conversation. */
    publish(conversationId: string, event: EphemeralEvent): void {
      for (const { channel, liveReaders } of reachedBy(conversationId))
        if (liveReaders.size > 0) channel.publish(conversationId, event)
    },

    /** Of these conversations, those with a live reader; for each stream of all conversations one that it follows. */
    withLiveReaders(conversationIds: ReadonlySet<string>): string[] {
      const found = new Set([...conversationIds].filter((id) => subscribers.get(id)?.liveReaders.size))
      for (const { memberships } of subscribers.get(FEED)?.liveReaders ?? []) {
        const shared = memberships && findShared(memberships, conversationIds)
        if (shared !== undefined) found.add(shared)
      }
      return [...found]
    },

    /** The conversations that are followed, and {@link FEED}. */
    names: () => [...subscribers.keys()],
  }
}

function createSubscribers(source: Source, deliver: Deliver): Subscribers {
  const liveReaders = new Set<Reader>()
  const channel = createChannel(source, (delivery) => deliver(liveReaders, delivery))
  return { channel, liveReaders, count: 0 }
}
