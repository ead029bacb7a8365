import type { Config } from '../config/parse.ts'
import type { CloseReason, EphemeralEvent, Log, StreamEvent } from '../context.ts'
import { ChatError, causeText } from '../core/errors.ts'
import type { Metrics } from '../metrics/registry.ts'
import type { Database } from '../storage/database.ts'
import { type Channel, createChannel } from './channel.ts'
import { type Delivery, encode, farewellsIn, findShared, select } from './delivery.ts'
import { listLastSeqs } from './log.ts'
import type { Reader, StreamSources } from './reader.ts'
import { catchUp, type Late } from './replay.ts'
import type { Ephemeral, Outcome } from './transaction.ts'
import { createTurns } from './turns.ts'

/** A channel, the readers that are level with it, and how many hold it: those still catching up count too. */
interface Audience {
  channel: Channel
  level: Set<Reader>
  holders: number
}

/** The name of the audience that follows all conversations. */
const FEED = 'feed'

const HEARTBEAT: Delivery = { bytes: Buffer.from(': keep-alive\n\n'), events: [] }

/** Who was sent away comes back after two to five seconds, and not all in the same one. */
const RETURN_MS = { first: 2_000, apart: 100, turns: 31 }

/** The open streams of this process. */
export type Hub = ReturnType<typeof createHub>

/** Hands what is committed, the same bytes to all, to the streams of this process, and ends those that must end. */
export function createHub(deps: {
  db: Database
  config: Config
  log: Log
  metrics: Metrics
  now: () => number
  sources: StreamSources
}) {
  const { db, config, log, metrics, sources } = deps
  const audiences = new Map<string, Audience>()
  const readers = new Set<Reader>()
  const streamsOf = new Map<string, number>()
  // Readers that are behind; each is in it at most once, so it is never longer than there are open streams.
  const turns = createTurns<Reader>()
  let isLeaving = false
  let draining = false
  let streamsChanged: (userId: string) => void = () => {}
  let failed = false

  const audienceOf = (reader: Reader) => reader.conversation_id ?? FEED

  function join(name: string): Audience {
    const audience = audiences.get(name) ?? createAudience(name)
    audience.holders++
    return audience
  }

  function createAudience(name: string): Audience {
    const level = new Set<Reader>()
    const source = name === FEED ? sources.ofAll() : sources.ofConversation(name)
    const channel = createChannel(source, (delivery) => deliver(level, delivery))
    const audience = { channel, level, holders: 0 }
    audiences.set(name, audience)
    return audience
  }

  function part(reader: Reader): void {
    const name = audienceOf(reader)
    const audience = audiences.get(name)!
    audience.level.delete(reader)
    if (--audience.holders === 0) audiences.delete(name)
  }

  function deliver(level: Set<Reader>, delivery: Delivery): void {
    metrics.delivered(delivery.events.length * level.size)
    const farewells = farewellsIn(delivery)
    for (const reader of level) send(reader, delivery, farewells)
  }

  /** Sends what is new, unless the reader is too far behind. Of one conversation, its own removal is the last it gets. */
  function send(reader: Reader, delivery: Delivery, farewells = farewellsIn(delivery)): void {
    if (reader.sink.pending() > config.sse.max_buffer_bytes) {
      closeReader(reader, 'too_slow')
      return
    }
    const farewell = reader.places || farewells.size === 0 ? undefined : farewells.get(reader.user_id)
    const own = reader.places ? select(delivery, reader.places) : (farewell ?? delivery)
    if (own.events.length > 0) reader.sink.write(own)
    if (farewell) closeReader(reader, 'removed')
  }

  function tell(reader: Reader, event: StreamEvent, id?: string): void {
    reader.sink.write(encode([id === undefined ? { event } : { id, event }]))
  }

  function closeReader(reader: Reader, reason?: CloseReason): void {
    if (reader.closed) return
    reader.closed = true
    readers.delete(reader)
    turns.leave(reader)
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

  /** Closes those streams whose session, user or participation has ended. */
  async function recheck(suspects: Reader[] = [...readers]): Promise<void> {
    if (suspects.length === 0) return
    for (const [reader, reason] of await sources.findRefusals(suspects)) closeReader(reader, reason)
  }

  /** What a reader that joins an audience needs of the hub. */
  function late({ level }: Audience): Late {
    return {
      listMemberships: sources.listMemberships,
      page_bytes: config.sse.max_buffer_bytes,
      turn: turns.wait,
      recheck: (reader) => recheck([reader]),
      tell,
      send,
      close: closeReader,
      join: (reader) => level.add(reader),
    }
  }

  function publishToUser({ conversation_id, user_id, event }: Ephemeral): void {
    for (const name of [conversation_id, FEED]) {
      for (const reader of audiences.get(name)?.level ?? [])
        if (reader.user_id === user_id) send(reader, encode([{ conversation_id, event }]))
    }
  }

  function committed({ conversations, ephemeral, recheck: isDue }: Outcome): void {
    for (const { conversation_id, user_id, event } of ephemeral) {
      if (user_id !== undefined) continue
      for (const name of [conversation_id, FEED]) {
        const audience = audiences.get(name)
        if (audience?.level.size) audience.channel.publish(conversation_id, event)
      }
    }
    for (const [id, events] of conversations) audiences.get(id)?.channel.offer(events)
    const touched = new Set([...conversations.keys(), ...ephemeral.map((each) => each.conversation_id)])
    if (touched.size > 0) touched.add(FEED)
    const advances = [...touched].flatMap((name) => audiences.get(name)?.channel.advance() ?? [])
    if (advances.length === 0 && !isDue) return
    Promise.all(advances)
      .then(() => {
        // After all that was in the log by then: what is said may be about it.
        for (const each of ephemeral) if (each.user_id !== undefined) publishToUser(each)
        return isDue ? recheck() : undefined
      })
      .catch((error) => {
        failed = true
        log.warn('Delivery waits for the storage', { cause: causeText(error) })
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

    /** Sends a reader what it missed since `last_event_id`, then everything as it happens. @returns how to leave */
    connect(reader: Reader, last_event_id?: string): () => void {
      readers.add(reader)
      streamsChanged(reader.user_id)
      const audience = join(audienceOf(reader))
      if (draining) closeReader(reader, 'draining')
      else
        catchUp(reader, audience.channel, last_event_id, late(audience)).catch((error) => {
          if (reader.closed) return
          log.warn('A stream could not start', { cause: causeText(error), stream: audienceOf(reader) })
          closeReader(reader)
        })
      return () => closeReader(reader)
    },

    /** Delivers what a transaction of this process has committed. */
    committed,

    /** Sends an event that is not stored to the open streams of a conversation. */
    publishEphemeral(conversationId: string, event: EphemeralEvent): void {
      committed({ conversations: new Map(), ephemeral: [{ conversation_id: conversationId, event }], recheck: false })
    },

    /**
     * Sends an event about a user to the streams of these conversations, of which there may be thousands: only those
     * with a reader are touched. A stream of all conversations gets it once, so it needs one that it shares.
     */
    publishAbout(conversationIds: ReadonlySet<string>, event: EphemeralEvent): void {
      const heard = new Set([...conversationIds].filter((id) => audiences.get(id)?.level.size))
      for (const { places } of audiences.get(FEED)?.level ?? []) {
        const shared = places && findShared(places, conversationIds)
        if (shared !== undefined) heard.add(shared)
      }
      // All at once: repeats are left out within one delivery.
      const ephemeral = [...heard].map((conversation_id) => ({ conversation_id, event }))
      committed({ conversations: new Map(), ephemeral, recheck: false })
    },

    /** Whether something could not be delivered since this was last asked: then somebody has to look again. */
    hasFailed(): boolean {
      const before = failed
      failed = false
      return before
    },

    /** Delivers what other processes have committed. */
    async catchUpAll(): Promise<void> {
      await audiences.get(FEED)?.channel.advance()
      for (const { id, last_seq } of audiences.size ? await listLastSeqs(db, audiences.keys()) : []) {
        const channel = audiences.get(id)?.channel
        if (channel && (channel.position() < last_seq || channel.hasEphemeral())) await channel.advance()
      }
    },

    /** Closes the streams of ended sessions, disabled users and removed participants. */
    recheck,

    /** Whether a reader's session may have expired since it was looked up. */
    hasExpired: () => [...readers].some((reader) => reader.expires_at < deps.now()),
    isIdle: () => readers.size === 0,
    isDraining: () => isLeaving,
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

    /** Says that the end is near, and changes nothing yet. */
    withdraw(): void {
      isLeaving = true
    },

    /** Ends every stream and lets no new one in. */
    drain(): void {
      isLeaving = true
      draining = true
      let turn = 0
      for (const reader of readers) {
        const wait = RETURN_MS.first + RETURN_MS.apart * (turn++ % RETURN_MS.turns)
        reader.sink.write({ bytes: Buffer.from(`retry: ${wait}\n\n`), events: [] })
        closeReader(reader, 'draining')
      }
    },
  }
}
