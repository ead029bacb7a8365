import type { EphemeralEvent } from '../context.ts'
import { type Channel, createChannel, type Source } from './channel.ts'
import { type Delivery, findShared } from './delivery.ts'
import type { Reader, StreamSources } from './reader.ts'

/** A log that this process follows, and its readers. */
export interface Subscribers {
  channel: Channel
  /** The readers that have caught up with the channel: they get each delivery. */
  liveReaders: Set<Reader>
  /** The number of all readers, including those that are still catching up. */
  count: number
}

/** The name of the log of all conversations. */
export const FEED = 'feed'

type Deliver = (liveReaders: Set<Reader>, delivery: Delivery) => void

/** The logs that this process follows, by conversation, and their readers. */
export type Subscriptions = ReturnType<typeof createSubscriptions>

/** @param deliver sends new events of a log to its live readers */
export function createSubscriptions(sources: StreamSources, deliver: Deliver) {
  const subscribers = new Map<string, Subscribers>()
  const nameOf = (reader: Reader) => reader.conversation_id ?? FEED

  const reachedBy = (conversationId: string): Subscribers[] =>
    [conversationId, FEED].flatMap((name) => subscribers.get(name) ?? [])

  return {
    nameOf,

    /** Follows the log of a reader; the reader is not a live reader yet. */
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

    /** The subscribers that get the events of a conversation: its own, and those of all conversations. */
    reachedBy,

    /** Sends an ephemeral event with the next delivery of the conversation. */
    publish(conversationId: string, event: EphemeralEvent): void {
      for (const { channel, liveReaders } of reachedBy(conversationId))
        if (liveReaders.size > 0) channel.publish(conversationId, event)
    },

    /** Whether a conversation has live readers; a stream of all conversations may be one. */
    hasReaders: (conversationId: string) => reachedBy(conversationId).some(({ liveReaders }) => liveReaders.size > 0),

    /** The conversations with a live reader, and one followed conversation for each stream of all conversations. */
    withLiveReaders(conversationIds: ReadonlySet<string>): string[] {
      const found = new Set([...conversationIds].filter((id) => subscribers.get(id)?.liveReaders.size))
      for (const { memberships } of subscribers.get(FEED)?.liveReaders ?? []) {
        const shared = memberships && findShared(memberships, conversationIds)
        if (shared !== undefined) found.add(shared)
      }
      return [...found]
    },

    /** The followed conversations, and {@link FEED}. */
    names: () => [...subscribers.keys()],
  }
}

function createSubscribers(source: Source, deliver: Deliver): Subscribers {
  const liveReaders = new Set<Reader>()
  const channel = createChannel(source, (delivery) => deliver(liveReaders, delivery))
  return { channel, liveReaders, count: 0 }
}
