import type { Config } from '../../config/parse.ts'
import type { EphemeralEvent, Log } from '../../context.ts'
import { causeText } from '../../core/errors.ts'
import { createRequestPriority } from '../../core/scheduling/request-priority.ts'
import type { Metrics } from '../../metrics/registry.ts'
import type { Database } from '../../storage/database.ts'
import type { Micros } from '../../storage/sql.ts'
import { type CatchUpDeps, catchUp } from '../conversation/replay.ts'
import { createSubscriptions } from '../conversation/subscriptions.ts'
import { createDeliverAll } from '../feed/deliver-all.ts'
import { createFeed } from '../feed/feed.ts'
import { createFollowers } from '../feed/followers.ts'
import { createMeasure } from '../feed/lag.ts'
import { catchUpFollower } from '../feed/replay-all.ts'
import { createTail } from '../feed/tail.ts'
import { createWatch } from '../feed/watch.ts'
import { type Delivered, withActivities } from '../readers/delivery.ts'
import type { Reader, StreamSources } from '../readers/reader.ts'
import { createSender } from '../readers/sender.ts'
import type { Ephemeral, Outcome } from '../transaction/transaction.ts'
import { createDrains } from './drains.ts'
import { createEventLoopQueue } from './event-loop-queue.ts'
import { createFanOut } from './fan-out.ts'
import { createInboxSender } from './inboxes.ts'
import { createLogins } from './logins.ts'
import { createSendPart, type SendPart } from './own-parts.ts'
import { createStreamQuota } from './quota.ts'
import { createReplaySlots } from './replay-slots.ts'
import { createRights } from './rights.ts'
import { createStalledStreams } from './stalled.ts'
import { createStreams } from './streams.ts'
import { createTypings } from './typings.ts'
import { createUnreadUpdates } from './unread-updates.ts'
import { createWaits } from './waits.ts'

/** The maximum number of missed pages that are read at the same time: more would only wait for connections. */
const PAGES_CONCURRENCY = 16

/** The maximum number of readers that are sent missed events at the same time: each has a page of them in memory. */
const REPLAYS_CONCURRENCY = 64

interface HubDeps {
  db: Database
  config: Config
  log: Log
  metrics: Metrics
  sources: StreamSources
  now: () => Micros
  /** As in the context. */
  sessionNow: () => Micros
  /** Tells the other processes of a commit, and passes ephemeral events of this one on. */
  announce: (events: readonly Ephemeral[]) => void
  /** The number of requests so far: streams that read what they missed give them precedence. */
  arrivals: () => number
}

/** The open streams of this process. */
export type Hub = ReturnType<typeof createHub>

/** Sends committed events, encoded once, to the streams of this process, and ends the streams that must end. */
export function createHub(deps: HubDeps) {
  const parts = createParts(deps)
  const { feed, watch, quota, streams, stalled, rights, hasReaders, fanOut, waits, unread, inboxes, start } = parts
  const { close } = streams
  const { reserve, isFull, release, countStreams, onStreams } = quota
  const logins = createLogins({ all: streams.all, close })
  let state: 'open' | 'withdrawn' | 'draining' = 'open'

  return {
    reserve,
    isFull,
    release,
    countStreams,
    onStreams,
    stalled,
    hasReaders,
    feed,
    watch,

    /**
     * Makes a call that reads the log by itself one of the streams: it ends as they do, and is sent nothing. Its user counts as
     * present from a call of `present` on: who is present is sent to all conversations of the user.
     *
     * @returns a function that closes it
     */
    attach(reader: Reader): () => void {
      streams.add(reader)
      if (state === 'draining') close(reader, 'draining')
      return () => close(reader)
    },
    present: (reader: Reader) => quota.report(reader.user_id),

    /**
     * Sends a reader the events since `last_event_id`, then live events, as long as its stream is open.
     *
     * @param follow is called when the reader gets live events, with what sends it something else
     * @returns a function that closes the stream
     */
    connect(reader: Reader, last_event_id?: string, follow?: (part: SendPart) => Promise<void>): () => void {
      streams.add(reader)
      waits.add(reader)
      quota.report(reader.user_id)
      if (state === 'draining') close(reader, 'draining')
      else void start(reader, last_event_id, follow)
      return () => close(reader)
    },

    committed(outcome: Outcome): void {
      fanOut.committed(outcome)
      if (outcome.conversations.size + outcome.told.length > 0) watch.advance()
    },
    async catchUp(conversations: { id: string; last_seq: number }[]): Promise<void> {
      if (conversations.length > 0 || watch.isEarly()) watch.advance()
      await fanOut.catchUp(conversations)
    },
    async catchUpAll(): Promise<void> {
      watch.advance()
      await fanOut.catchUpAll()
    },
    hasFailed: fanOut.hasFailed,
    async delivered(): Promise<void> {
      await fanOut.idle()
      await unread.idle()
    },

    publishEphemeral: fanOut.publishEphemeral,
    receive: fanOut.receive,

    /**
     * Sends an event about a user to the streams of these conversations. These can be thousands: only those with a
     * reader cost time. A stream of all conversations gets the event once.
     */
    publishAbout: (conversationIds: ReadonlySet<string>, event: EphemeralEvent) =>
      // In one call: repeated events are removed within one delivery only.
      fanOut.receive([...conversationIds].filter(hasReaders).map((conversation_id) => ({ conversation_id, event }))),

    rights,
    /** Asks the host again about the logins of the open streams. */
    recheckLogins: logins.recheck,
    isIdle: () => streams.size() === 0,
    /** Whether this process must hear at once of what others commit. */
    isListening: () => streams.size() > 0 || watch.isUrgent(),
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
      unread.close()
      inboxes.close()
      logins.stop()
    },
  }
}

/** The parts of a hub; each owns its state. */
function createParts({ db, config, log, metrics, sources, now, sessionNow, announce, arrivals }: HubDeps) {
  const { max_buffer_bytes, max_streams_per_user } = config.sse
  const { findRefusals, compose } = sources
  const quota = createStreamQuota(max_streams_per_user)
  // Readers that are behind. Each is in the queue at most once, so the number of open streams bounds its length.
  const turns = createEventLoopQueue<Reader | Reader[]>(PAGES_CONCURRENCY, createRequestPriority(arrivals))
  const slots = createReplaySlots(REPLAYS_CONCURRENCY)
  const streams = createStreams({ metrics, onClose })
  const { close } = streams
  const waits = createWaits({ close })
  const stalled = createStalledStreams({ ...streams, onChange: quota.report })
  const drains = createDrains({ stalled_seconds: config.server.stalled_seconds, close, isLong: slots.leave })
  const { listFollowing, listUnreadUpdates } = sources
  const unread = createUnreadUpdates({ listFollowing, list: listUnreadUpdates, max_buffer_bytes, log })
  const { write, send, deliver } = createSender({ max_buffer_bytes, metrics, sent: unread.sent, close })
  const measure = createMeasure({ metrics, now })
  const typings = createTypings(now)
  const complete = (events: Delivered[]) => typings.withEnds(withActivities(events))
  const refreshed = () => rights.refresh()
  const subscriptions = createSubscriptions({ sources, deliver, complete, beforeDelivery: refreshed, measure })
  const advance = (id: string) => subscriptions.channelOf(id)?.advance()
  const rights = createRights({ streams, findRefusals, close, advance, now: sessionNow })
  const followers = createFollowers()
  const all = createDeliverAll({ followers, metrics, send })
  const sendHeld = (event: Ephemeral) => fanOut.receive([event])
  const inboxes = createInboxSender({ followers, all, complete: sources.completeInboxEvents, sendHeld })
  const feed = createFeed(db)
  const deliverNew = (events: Delivered[]) => all.deliver(complete(events))
  const tail = createTail({ feed, followers, deliver: deliverNew, compose, beforeDelivery: rights.refresh, measure })
  const watch = createWatch({ feed, listParticipations: sources.listParticipations, log })
  const fanOut = createFanOut({
    db,
    log,
    subscriptions,
    followers,
    all,
    tail,
    send,
    inboxes,
    typings,
    announce,
    recheck: rights.recheckConcerned,
  })
  const pace = { page_bytes: max_buffer_bytes, turn: turnsWithRights(turns, rights), slots, drained: drains.drained }
  const deps = { ...sources, ...pace, recheck: rights.recheckOne, write, send, close }

  function onClose(reader: Reader): void {
    waits.leave(reader)
    unread.leave(reader)
    turns.leave(reader)
    drains.leave(reader)
    stalled.leave(reader)
    slots.leave(reader)
    quota.release(reader.user_id)
    if (reader.conversation_id !== undefined) subscriptions.remove(reader.conversation_id, reader)
    else followers.remove(reader)
    tail.rest()
  }

  /** Sends a reader what it missed, and then all that is new. */
  async function start(
    reader: Reader,
    last_event_id?: string,
    follow?: (part: SendPart) => Promise<void>,
  ): Promise<void> {
    const { conversation_id } = reader
    try {
      if (conversation_id === undefined)
        await catchUpFollower(reader, last_event_id, { ...deps, feed, tail, followers, all })
      else await catchUp(reader, subscriptions.add(conversation_id, reader), last_event_id, deps)
      waits.begin(reader)
      if (!reader.closed) await follow?.(createSendPart(reader, pace))
    } catch (error) {
      if (reader.closed) return
      log.warn('A stream could not start', { cause: causeText(error), stream: conversation_id ?? 'all' })
      close(reader)
    }
  }

  const hasReaders = (id: string) => subscriptions.hasReaders(id) || followers.hasConversation(id)
  return { feed, watch, quota, streams, stalled, rights, hasReaders, fanOut, waits, unread, inboxes, start }
}

/** Turns to read what readers have missed; what they may no longer read is known behind each. */
function turnsWithRights(
  turns: ReturnType<typeof createEventLoopQueue<Reader | Reader[]>>,
  rights: Pick<ReturnType<typeof createRights>, 'refresh'>,
): CatchUpDeps['turn'] {
  return (entry, work) =>
    turns.take(entry, async () => {
      const result = await work()
      await rights.refresh()
      return result
    })
}
