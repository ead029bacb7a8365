import type { EphemeralEvent } from '../../context.ts'
import type { Measure } from '../feed/lag.ts'
import type { Delivery } from '../readers/delivery.ts'
import type { Reader, StreamSources } from '../readers/reader.ts'
import { type Channel, type ChannelDeps, createChannel, type Source } from './channel.ts'
import type { AwaitedPages } from './shared-pages.ts'

/** The log of a conversation that this process follows, and its readers. */
export interface Subscribers {
  channel: Channel
  /** The readers that have caught up with the channel: they get each delivery. */
  liveReaders: Set<Reader>
  /** All readers, including those that are still catching up. */
  readers: Set<Reader>
  /** What readers that are catching up wait for. */
  pages: AwaitedPages
}

interface SubscriptionsDeps {
  sources: StreamSources
  /** Sends new events of a log to its live readers. */
  deliver(liveReaders: Set<Reader>, delivery: Delivery): void
  /** New events of a log with what follows from them. */
  complete: ChannelDeps['complete']
  /** Is awaited between the read of events and their delivery, if it returns a promise. */
  beforeDelivery(): Promise<void> | undefined
  /** Is called after a delivery to live readers. */
  measure: Measure
}

/** The logs that this process follows, by conversation, and the readers of streams of one conversation. */
export type Subscriptions = ReturnType<typeof createSubscriptions>

/** Creates the subscriptions of this process, of which there are none yet. */
export function createSubscriptions(deps: SubscriptionsDeps) {
  const subscribers = new Map<string, Subscribers>()
  const hasReaders = (conversationId: string) => (subscribers.get(conversationId)?.liveReaders.size ?? 0) > 0

  return {
    /** Follows the log of a conversation; the reader is not a live reader yet. */
    add(conversationId: string, reader: Reader): Subscribers {
      const create = () => createSubscribers(deps.sources.ofConversation(conversationId), deps)
      const subscriber = subscribers.get(conversationId) ?? create()
      subscribers.set(conversationId, subscriber)
      subscriber.readers.add(reader)
      return subscriber
    },

    remove(conversationId: string, reader: Reader): void {
      const subscriber = subscribers.get(conversationId)
      subscriber?.liveReaders.delete(reader)
      subscriber?.readers.delete(reader)
      if (subscriber?.readers.size === 0) subscribers.delete(conversationId)
    },

    channelOf: (conversationId: string): Channel | undefined => subscribers.get(conversationId)?.channel,
    /** Whether a conversation has live readers. */
    hasReaders,
    /** The live readers of a conversation. */
    readersOf: (conversationId: string): Iterable<Reader> => subscribers.get(conversationId)?.liveReaders ?? [],

    /** Sends an ephemeral event with the next delivery of the conversation. */
    publish(conversationId: string, event: EphemeralEvent): void {
      if (hasReaders(conversationId)) subscribers.get(conversationId)!.channel.publish(conversationId, event)
    },

    /** The followed conversations. */
    conversations: () => [...subscribers.keys()],
  }
}

function createSubscribers(
  source: Source,
  { deliver, complete, beforeDelivery, measure }: SubscriptionsDeps,
): Subscribers {
  const liveReaders = new Set<Reader>()
  const channel = createChannel(source, {
    deliver(delivery, origin) {
      deliver(liveReaders, delivery)
      if (origin && liveReaders.size > 0) measure(origin)
    },
    complete,
    beforeDelivery,
  })
  return { channel, liveReaders, readers: new Set(), pages: new Map() }
}
