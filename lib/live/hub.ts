import type { Config } from '../config/parse.ts'
import type { EphemeralEvent, Log } from '../context.ts'
import { causeText } from '../core/errors.ts'
import type { Metrics } from '../metrics/registry.ts'
import type { Database } from '../storage/database.ts'
import { createFanOut } from './fan-out.ts'
import { createStreamQuota } from './quota.ts'
import type { Reader, StreamSources } from './reader.ts'
import { catchUp } from './replay.ts'
import { createSender } from './sender.ts'
import { createStreams } from './streams.ts'
import { createSubscriptions, type Subscribers } from './subscriptions.ts'
import { createTurns } from './turns.ts'

interface HubDeps {
  db: Database
  config: Config
  log: Log
  metrics: Metrics
  sources: StreamSources
}

/** The open streams of this process. */
export type Hub = ReturnType<typeof createHub>

/** Sends what is committed, the same bytes to all, to the streams of this process, and ends those that must end. */
export function createHub(deps: HubDeps & { now: () => number }) {
  const { quota, streams, subscriptions, fanOut, bringUpToDate } = createParts(deps)
  const { close } = streams
  let state: 'open' | 'withdrawn' | 'draining' = 'open'

  return {
    reserve: quota.reserve,
    release: quota.release,
    countStreams: quota.countStreams,
    onStreams: quota.onStreams,

    /** Sends a reader what it missed since `last_event_id`, then everything as it happens. @returns closes the stream */
    connect(reader: Reader, last_event_id?: string): () => void {
      streams.add(reader)
      quota.opened(reader.user_id)
      const subscribers = subscriptions.add(reader)
      if (state === 'draining') close(reader, 'draining')
      else void bringUpToDate(reader, subscribers, last_event_id)
      return () => close(reader)
    },

    committed: fanOut.committed,
    catchUpAll: fanOut.catchUpAll,
    hasFailed: fanOut.hasFailed,

    /** Sends an event that is not stored to the open streams of a conversation. */
    publishEphemeral: (conversationId: string, event: EphemeralEvent) =>
      fanOut.publishEphemeral([conversationId], event),

    /**
     * Sends an event about a user to the streams of these conversations, of which there may be thousands: only those
     * with a reader are touched. A stream of all conversations gets it once, so it needs one that it shares.
     */
    publishAbout: (conversationIds: ReadonlySet<string>, event: EphemeralEvent) =>
      // All at once: repeats are left out within one delivery.
      fanOut.publishEphemeral(subscriptions.withLiveReaders(conversationIds), event),

    /** Closes the streams of ended sessions, disabled users and removed participants. */
    recheck: () => streams.recheck(),
    /** Whether a reader's session may have expired since it was looked up. */
    hasExpired: () => streams.hasExpired(deps.now()),
    isIdle: () => streams.size() === 0,
    size: streams.size,
    sendHeartbeats: streams.sendHeartbeats,

    isDraining: () => state !== 'open',
    /** Reports `isDraining` from now on, and changes nothing else yet. */
    withdraw(): void {
      if (state === 'open') state = 'withdrawn'
    },
    /** Ends every stream and refuses new ones. */
    drain(): void {
      state = 'draining'
      quota.close()
      streams.drain()
    },
  }
}

/** What a hub consists of: each part owns its state. */
function createParts({ db, config, log, metrics, sources }: HubDeps) {
  const { max_buffer_bytes, max_streams_per_user } = config.sse
  const { findRefusals, listMemberships } = sources
  const quota = createStreamQuota(max_streams_per_user)
  // Readers that are behind; each is in it at most once, so it is never longer than there are open streams.
  const turns = createTurns<Reader>()
  const streams = createStreams({ metrics, findRefusals, onClose })
  const { close, recheck } = streams
  const { send, deliver } = createSender({ max_buffer_bytes, metrics, close })
  const subscriptions = createSubscriptions(sources, deliver)
  const fanOut = createFanOut({ db, log, subscriptions, send, recheck })
  const catchUpDeps = { listMemberships, page_bytes: max_buffer_bytes, turn: turns.wait, recheck, send, close }

  function onClose(reader: Reader): void {
    turns.leave(reader)
    subscriptions.remove(reader)
    quota.release(reader.user_id)
  }

  async function bringUpToDate(reader: Reader, subscribers: Subscribers, last_event_id?: string): Promise<void> {
    try {
      await catchUp(reader, subscribers, last_event_id, catchUpDeps)
    } catch (error) {
      if (reader.closed) return
      log.warn('A stream could not start', { cause: causeText(error), stream: subscriptions.nameOf(reader) })
      close(reader)
    }
  }

  return { quota, streams, subscriptions, fanOut, bringUpToDate }
}
