import type { Config } from '../config.ts'
import type { Log } from '../context.ts'
import { ChatError } from '../errors.ts'
import type { Metrics } from '../ops/metrics.ts'
import type { Database } from '../storage/database.ts'
import { findRefusals } from './access.ts'
import { type Channel, createChannel, type Delivery, encode, untilRemoval } from './channel.ts'
import { eventId, startFrom } from './rules.ts'
import type { CloseReason, PassingEvent, StreamEvent } from './schema.ts'
import { findHead, listLastSeqs } from './store.ts'
import type { Outcome, Passing } from './write.ts'

/** Where a reader's events go. */
export interface Sink {
  write(delivery: Delivery): void
  /** Bytes written and not yet taken by the client. */
  pending(): number
  /** Resolves once little is pending, or the client is gone. */
  drained(): Promise<void>
  end(): void
}

/** An open stream. */
export interface Reader {
  readonly conversation_id: string
  readonly user_id: string
  readonly session_id?: string
  readonly sink: Sink
  /** When its session expires unless it is used, in microseconds since 1970; looked up again then. */
  expires_at?: number
  closed?: boolean
}

/** A channel, the readers that are level with it, and how many hold it: those still catching up count too. */
interface Audience {
  channel: Channel
  level: Set<Reader>
  holders: number
}

const HEARTBEAT: Delivery = { bytes: Buffer.from(': keep-alive\n\n'), events: [] }

/** The open streams of this process. */
export type Hub = ReturnType<typeof createHub>

/** Hands what is committed, the same bytes to all, to the streams of this process, and ends those that must end. */
export function createHub(deps: { db: Database; config: Config; log: Log; metrics: Metrics; now: () => number }) {
  const { db, config, log, metrics } = deps
  const audiences = new Map<string, Audience>()
  const readers = new Set<Reader>()
  const streamsOf = new Map<string, number>()
  let draining = false
  let streamsChanged: (userId: string) => void = () => {}
  let failed = false

  function join(conversationId: string): Audience {
    const audience = audiences.get(conversationId) ?? createAudience(conversationId)
    audience.holders++
    return audience
  }

  function createAudience(conversationId: string): Audience {
    const level = new Set<Reader>()
    const channel = createChannel(db, conversationId, (delivery) => deliver(level, delivery))
    const audience = { channel, level, holders: 0 }
    audiences.set(conversationId, audience)
    return audience
  }

  function part(reader: Reader): void {
    const audience = audiences.get(reader.conversation_id)!
    audience.level.delete(reader)
    if (--audience.holders === 0) audiences.delete(reader.conversation_id)
  }

  function deliver(level: Set<Reader>, delivery: Delivery): void {
    metrics.delivered(delivery.events.length * level.size)
    for (const reader of level) send(reader, delivery)
  }

  /** Sends what is new, unless the reader is too far behind. Its own removal is the last it gets. */
  function send(reader: Reader, delivery: Delivery): void {
    const farewell = untilRemoval(delivery, reader.user_id)
    const isTooSlow = reader.sink.pending() > config.sse.max_buffer_bytes
    if (!isTooSlow) reader.sink.write(farewell ?? delivery)
    if (isTooSlow || farewell) closeReader(reader, isTooSlow ? 'too_slow' : 'removed')
  }

  function tell(reader: Reader, event: StreamEvent, id?: string): void {
    reader.sink.write(encode([id === undefined ? { event } : { id, event }]))
  }

  function closeReader(reader: Reader, reason?: CloseReason): void {
    if (reader.closed) return
    reader.closed = true
    readers.delete(reader)
    part(reader)
    release(reader.user_id)
    if (reason === 'too_slow') metrics.dropped()
    if (reason) tell(reader, { type: 'stream.closed', payload: { reason } })
    reader.sink.end()
  }

  function release(userId: string): void {
    const left = (streamsOf.get(userId) ?? 1) - 1
    if (left > 0) streamsOf.set(userId, left)
    else {
      streamsOf.delete(userId)
      if (!draining) streamsChanged(userId)
    }
  }

  /** Sends what the reader missed, page by page at its own pace, and makes it level once nothing is missing. */
  async function catchUp(reader: Reader, { channel, level }: Audience, lastEventId: string | undefined): Promise<void> {
    const head = await findHead(db, channel.id)
    // After the head is read: who was removed before is seen here, who is removed later by the event of it.
    await recheck([reader])
    if (!head || reader.closed) return
    const start = startFrom(lastEventId, head)
    const id = eventId(head.epoch, start.seq)
    const { resumed, seq } = start
    tell(
      reader,
      { type: 'stream.ready', payload: { conversation_id: channel.id, resumed, last_event_id: id, seq } },
      id,
    )
    if (!resumed && start.reason)
      tell(reader, { type: 'stream.reset', payload: { reason: start.reason, last_event_id: id } })

    await channel.advance()
    let sent = seq
    // Nothing is awaited between the last comparison and joining the others, so no event slips through in between.
    while (sent < channel.position() && !reader.closed) {
      const isPast = sent < head.last
      // Not beyond what the others have got: what they get next, this reader gets with them.
      const page = await channel.page(sent, isPast ? head.last : channel.position(), config.sse.max_buffer_bytes)
      if (reader.closed) return
      if (!page) {
        // What comes next is gone: with the conversation, or it was kept long enough. A reader that comes back is told.
        await recheck([reader])
        closeReader(reader, 'too_slow')
        return
      }
      if (isPast) reader.sink.write(page)
      else send(reader, page)
      sent = page.seq
      await reader.sink.drained()
    }
    if (!reader.closed) level.add(reader)
  }

  /** Closes those streams whose session, user or participation has ended. */
  async function recheck(suspects: Reader[] = [...readers]): Promise<void> {
    if (suspects.length === 0) return
    for (const [reader, reason] of await findRefusals(db, deps.now(), suspects)) closeReader(reader, reason)
  }

  function whisper({ conversation_id, user_id, event }: Passing): void {
    for (const reader of audiences.get(conversation_id)?.level ?? [])
      if (reader.user_id === user_id) send(reader, encode([{ event }]))
  }

  function committed({ conversations, passing, recheck: isDue }: Outcome): void {
    for (const { conversation_id: id, user_id, event } of passing) {
      const audience = audiences.get(id)
      if (user_id === undefined && audience?.level.size) audience.channel.announce(event)
    }
    const touched = new Set([...conversations, ...passing.map((each) => each.conversation_id)])
    const advances = [...touched].flatMap((id) => audiences.get(id)?.channel.advance() ?? [])
    if (advances.length === 0 && !isDue) return
    Promise.all(advances)
      .then(() => {
        // After all that was in the log by then: what is said may be about it.
        for (const each of passing) if (each.user_id !== undefined) whisper(each)
        return isDue ? recheck() : undefined
      })
      .catch((error) => {
        failed = true
        log.warn('Delivery waits for the storage', { cause: String(error) })
      })
  }

  return {
    /**
     * Takes one of a user's places for a stream; `connect` uses it, `release` gives it back.
     *
     * @throws ChatError `unavailable` while draining, `too_many_streams` when the user has no place left
     */
    reserve(userId: string): void {
      if (draining) throw new ChatError('unavailable', { retry_after_seconds: 1 })
      const open = streamsOf.get(userId) ?? 0
      if (open >= config.sse.max_streams_per_user) throw new ChatError('too_many_streams', { retry_after_seconds: 5 })
      streamsOf.set(userId, open + 1)
    },
    release,

    /** Sends a reader what it missed since `lastEventId`, then everything as it happens. @returns how to leave */
    connect(reader: Reader, lastEventId?: string): () => void {
      readers.add(reader)
      if (streamsOf.get(reader.user_id) === 1) streamsChanged(reader.user_id)
      const audience = join(reader.conversation_id)
      if (draining) closeReader(reader, 'draining')
      else
        catchUp(reader, audience, lastEventId).catch((error) => {
          if (reader.closed) return
          log.warn('A stream could not start', { cause: String(error), conversation_id: reader.conversation_id })
          closeReader(reader)
        })
      return () => closeReader(reader)
    },

    /** Delivers what a transaction of this process has committed. */
    committed,

    /** Says something once to whoever listens; nothing is kept of it. */
    announce(conversationId: string, event: PassingEvent): void {
      committed({ conversations: new Set(), passing: [{ conversation_id: conversationId, event }], recheck: false })
    },

    /** Whether something could not be delivered since this was last asked: then somebody has to look again. */
    hasFailed(): boolean {
      const before = failed
      failed = false
      return before
    },

    /** Delivers what other processes have committed. */
    async catchUpAll(): Promise<void> {
      for (const { id, last_seq } of audiences.size ? await listLastSeqs(db, audiences.keys()) : []) {
        const channel = audiences.get(id)?.channel
        if (channel && (channel.position() < last_seq || channel.hasAnnouncements())) await channel.advance()
      }
    },

    /** Closes the streams of ended sessions, disabled users and removed participants. */
    recheck,

    /** Whether a reader's session may have expired since it was looked up. */
    hasExpired: () => [...readers].some((reader) => (reader.expires_at ?? Number.POSITIVE_INFINITY) < deps.now()),
    isIdle: () => readers.size === 0,
    isDraining: () => draining,
    /** Open streams of a user in this process. */
    countStreams: (userId: string) => streamsOf.get(userId) ?? 0,
    /** Has `listener` called when a user's first stream opens, and when the last one has closed. */
    onStreams(listener: (userId: string) => void): void {
      streamsChanged = listener
    },
    size: () => readers.size,

    /** A comment to everybody who keeps up, so that nothing on the way takes the stream for dead. */
    beat(): void {
      for (const reader of readers) if (reader.sink.pending() === 0) reader.sink.write(HEARTBEAT)
    },

    /** Ends every stream and lets no new one in. */
    drain(): void {
      draining = true
      for (const reader of readers) closeReader(reader, 'draining')
    },
  }
}
