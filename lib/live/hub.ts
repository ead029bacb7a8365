import type { Config } from '../config/parse.ts'
import type { EphemeralEvent, Log } from '../context.ts'
import { causeText } from '../core/errors.ts'
import type { Metrics } from '../metrics/registry.ts'
import type { Database } from '../storage/database.ts'
import type { Micros } from '../storage/sql.ts'
import { createFanOut } from './fan-out.ts'
import { createStreamQuota } from './quota.ts'
import type { Reader, StreamSources } from './reader.ts'
import { catchUp } from './replay.ts'
import { createRights } from './rights.ts'
import { createSender } from './sender.ts'
import { createStreams } from './streams.ts'
import { createSubscriptions, type Subscribers } from './subscriptions.ts'
import type { Ephemeral } from './transaction.ts'
import { createTurns } from './turns.ts'

interface HubDeps {
  db: Database
  config: Config
  log: Log
  metrics: Metrics
  sources: StreamSources
  now: () => Micros
  /** Passes ephemeral events of this process on to the others. */
  announce: (events: readonly Ephemeral[]) => void
}

/** The open streams of this process. */
export type Hub = ReturnType<typeof createHub>

/** Sends committed events, encoded once, to the streams of this process, and ends the streams that must end. */
export function createHub(deps: HubDeps) {
  const { quota, streams, rights, subscriptions, fanOut, bringUpToDate } = createParts(deps)
  const { close } = streams
  let state: 'open' | 'withdrawn' | 'draining' = 'open'

  return {
    reserve: quota.reserve,
    release: quota.release,
    countStreams: quota.countStreams,
    onStreams: quota.onStreams,
    hasReaders: subscriptions.hasReaders,

    /** Sends a reader the events since `last_event_id`, then live events. @returns a function that closes the stream */
    connect(reader: Reader, last_event_id?: string): () => void {
      streams.add(reader)
      quota.opened(reader.user_id)
      const subscribers = subscriptions.add(reader)
      if (state === 'draining') close(reader, 'draining')
      else void bringUpToDate(reader, subscribers, last_event_id)
      return () => close(reader)
    },

    committed: fanOut.committed,
    catchUp: fanOut.catchUp,
    catchUpAll: fanOut.catchUpAll,
    hasFailed: fanOut.hasFailed,

    publishEphemeral: fanOut.publishEphemeral,
    receive: fanOut.receive,

    /**
     * Sends an event about a user to the streams of these conversations. These can be thousands: only those with a
     * reader cost time. A stream of all conversations gets the event once, through one conversation that it shares.
     */
    publishAbout: (conversationIds: ReadonlySet<string>, event: EphemeralEvent) =>
      // In one call: repeated events are removed within one delivery only.
      fanOut.receive(
        subscriptions.withLiveReaders(conversationIds).map((conversation_id) => ({ conversation_id, event })),
      ),

    rights,
    isIdle: () => streams.size() === 0,
    size: streams.size,
    sendHeartbeats: streams.sendHeartbeats,

    isDraining: () => state !== 'open',
    /** Makes `isDraining` return true; streams stay open. */
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

/** The parts of a hub; each owns its state. */
function createParts({ db, config, log, metrics, sources, now, announce }: HubDeps) {
  const { max_buffer_bytes, max_streams_per_user } = config.sse
  const { findRefusals, listMemberships, getsPresence } = sources
  const quota = createStreamQuota(max_streams_per_user)
  // Readers that are behind. Each is in the queue at most once, so the number of open streams bounds its length.
  const turns = createTurns<Reader>()
  const streams = createStreams({ metrics, onClose })
  const { close } = streams
  const rights = createRights({ streams, findRefusals, close, now })
  const { send, deliver } = createSender({ max_buffer_bytes, metrics, close })
  const subscriptions = createSubscriptions(sources, deliver)
  const fanOut = createFanOut({ db, log, subscriptions, send, recheck: rights.recheckConcerned, announce })
  const catchUpDeps = {
    listMemberships,
    getsPresence,
    page_bytes: max_buffer_bytes,
    turn: turns.wait,
    recheck: rights.recheck,
    send,
    close,
  }

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

  return { quota, streams, rights, subscriptions, fanOut, bringUpToDate }
}
