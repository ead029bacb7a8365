import type * as v from 'valibot'
import type { Context } from '../../context.ts'
import { type Actor, assertUser } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import type { NamesOf } from '../../core/known-names.ts'
import { createCondition } from '../../core/scheduling/condition.ts'
import { assertKnown, useCase } from '../../core/use-case.ts'
import type { SendPart } from '../../live/hub/own-parts.ts'
import type { Delivered, Delivery } from '../../live/readers/delivery.ts'
import type { Reader, Sink } from '../../live/readers/reader.ts'
import { requireReader } from '../memberships/access.ts'
import { StreamQuery } from './schema.ts'
import { withSubjects } from './with-subjects.ts'

export type { SendPart } from '../../live/hub/own-parts.ts'

/** An authorised stream with a reserved place: connect it, or release the place. */
export interface Opening {
  /** Starts sending. @returns a function that disconnects */
  connect(sink: Sink): () => void
  cancel(): void
  /** Set for frames of a protocol: these have headers of their own, and what is broken off is no end to their readers. */
  headers?: readonly (readonly [name: string, value: string])[]
}

/**
 * Reserves a place on a conversation's stream.
 *
 * @throws ChatError `validation_failed`; `not_found`; `too_many_streams`; `unavailable` while the service drains
 */
export const open = useCase({
  takes: ['actor', 'conversation_id'],
  input: StreamQuery,
  errors: ['validation_failed', 'not_found', 'too_many_streams', 'unavailable'],
  run: async (ctx, actor, conversationId, input): Promise<Opening> => {
    const { is_outside = false } = await requireReader(ctx, ctx.db, actor, conversationId)
    return reserve(ctx, actor, { conversation_id: conversationId, is_outside }, input)
  },
})

/**
 * Reserves a place on the stream of all the actor's conversations, including those joined later. For a system actor, each
 * event has `subjects` beside its payload.
 *
 * @throws ChatError `validation_failed`; `forbidden` for the operator; `too_many_streams`; `unavailable` while the service drains
 */
export const openAll = useCase({
  takes: ['actor'],
  input: StreamQuery,
  errors: ['validation_failed', 'too_many_streams', 'unavailable'],
  run: async (ctx, actor, input): Promise<Opening> => {
    assertUser(actor)
    const opening = await reserve(ctx, actor, { conversation_id: undefined, is_outside: false }, input)
    return actor.system === undefined ? opening : withSubjects(ctx, opening)
  },
})

const WITHOUT_ONCE = { path: 'wait_seconds', message: 'needs once=true' }

async function reserve(
  ctx: Context,
  actor: Actor,
  place: Pick<Reader, 'conversation_id' | 'is_outside'>,
  { last_event_id, once, wait_seconds }: v.InferOutput<typeof StreamQuery>,
): Promise<Opening> {
  if (wait_seconds !== undefined && !once) throw new ChatError('validation_failed', { errors: [WITHOUT_ONCE] })
  const { hub, presence } = ctx.streams
  const { user_id } = actor
  const wait_ms = once ? (wait_seconds ?? 0) * 1000 : undefined
  const toConnected = readerOf(ctx, actor, { ...place, wait_ms })
  await presence.takePlace(user_id)
  return {
    connect: (sink) => hub.connect(toConnected(sink), last_event_id),
    cancel: () => hub.release(user_id),
  }
}

/** A place on a conversation's stream for a consumer that sends its reader something of its own, and uses the events for that. */
export interface PacedOpening {
  /** @param follow is called when the sink gets live events */
  connect(sink: Sink, follow: (part: SendPart) => Promise<void>): { leave(): void }
  cancel(): void
}

/** A place among the streams of a user that is held until a stream has it. */
export interface StreamPlace {
  /** Gives it to a stream. */
  pass(): void
  /** Gives it back, unless a stream has it. */
  release(): void
}

/** Takes a place for a stream of the actor. @throws ChatError `too_many_streams`; `unavailable` while the service drains */
async function takePlace({ streams: { hub, presence } }: Context, { user_id }: Actor): Promise<StreamPlace> {
  await presence.takePlace(user_id)
  let isHeld = true
  return {
    pass() {
      isHeld = false
    },
    release() {
      if (isHeld) hub.release(user_id)
      isHeld = false
    },
  }
}

/**
 * Calls a function with a place for a stream of the actor: what it asks for is made only where there is one. It is given back if the
 * function fails, unless a stream has it.
 *
 * @throws ChatError as {@link takePlace}; what the function throws
 */
export async function withPlace<T>(ctx: Context, actor: Actor, run: (place: StreamPlace) => Promise<T>): Promise<T> {
  const place = await takePlace(ctx, actor)
  try {
    return await run(place)
  } catch (error) {
    place.release()
    throw error
  }
}

/** As {@link open}, without missed events. @param held a place that was taken before @throws ChatError as {@link open} */
export async function openPaced(
  ctx: Context,
  actor: Actor,
  conversationId: string,
  held?: StreamPlace,
): Promise<PacedOpening> {
  const { is_outside = false } = await requireReader(ctx, ctx.db, actor, conversationId)
  const toConnected = readerOf(ctx, actor, { conversation_id: conversationId, is_outside, wait_ms: undefined })
  const place = held ?? (await takePlace(ctx, actor))
  return {
    connect(sink, follow) {
      place.pass()
      return { leave: ctx.streams.hub.connect(toConnected(sink), undefined, follow) }
    },
    cancel: place.release,
  }
}

/** A reader of all conversations of the actor, which was recognised before the call. */
export function toReader(ctx: Context, actor: Actor, sink: Sink): Reader {
  return readerOf(ctx, actor, { conversation_id: undefined, is_outside: false, wait_ms: undefined })(sink)
}

/** @returns a function that makes a reader of the actor, by the login of the moment of this call */
function readerOf(
  { streams: { logins }, now }: Context,
  actor: Actor,
  { conversation_id, is_outside, wait_ms }: Pick<Reader, 'conversation_id' | 'is_outside' | 'wait_ms'>,
): (sink: Sink) => Reader {
  const login = logins.get(actor)
  const { session_id, key_id } = login?.maker ?? actor
  const since = login?.at ?? now()
  // All fields from the start, with fixed names: every delivery reads every reader, which is slower with objects of many
  // shapes.
  return (sink) => ({
    conversation_id,
    user_id: actor.user_id,
    session_id,
    key_id,
    login,
    since,
    is_system: actor.system !== undefined,
    is_outside,
    sink,
    wait_ms,
    expires_at: Number.POSITIVE_INFINITY,
    following: undefined,
    gets_presence: true,
    closed: false,
  })
}

/** How an iteration starts and stops. */
export interface FollowOptions {
  last_event_id?: string
  signal?: AbortSignal
}

const FOLLOW_OPTIONS: NamesOf<FollowOptions> = { last_event_id: 0, signal: 0 }

/**
 * A conversation's events: missed ones since `last_event_id` first, then live ones, `stream.closed` last.
 * Leaving the loop, or aborting `signal`, closes the stream.
 *
 * @throws ChatError as {@link open}
 */
export async function* follow(
  ctx: Context,
  actor: Actor,
  conversationId: string,
  options: FollowOptions = {},
): AsyncGenerator<Delivered> {
  assertKnown(options, FOLLOW_OPTIONS)
  yield* iterate(await open.run(ctx, actor, conversationId, options), options.signal)
}

/** An event of a stream of all conversations. */
export interface Followed extends Delivered {
  /** The host's own ids of the users that the event names, by their user ids: for a system actor, and for no user. */
  subjects?: Record<string, string>
}

/**
 * The events of all the actor's conversations, as {@link follow}; `conversation_id` is the conversation of an event.
 *
 * @throws ChatError as {@link openAll}
 */
export async function* followAll(ctx: Context, actor: Actor, options: FollowOptions = {}): AsyncGenerator<Followed> {
  assertKnown(options, FOLLOW_OPTIONS)
  yield* iterate(await openAll.run(ctx, actor, options), options.signal)
}

async function* iterate(opening: Opening, signal?: AbortSignal): AsyncGenerator<Delivered> {
  const queue = createDeliveryQueue()
  const leave = opening.connect(queue.sink)
  // An open stream keeps the process alive; the service's own timers do not.
  const alive = setInterval(() => {}, 2 ** 30)
  signal?.addEventListener('abort', leave)
  if (signal?.aborted) leave()
  try {
    for await (const { events } of queue.read())
      for (const delivered of events) {
        if (signal?.aborted) return
        yield delivered
      }
  } finally {
    clearInterval(alive)
    signal?.removeEventListener('abort', leave)
    leave()
  }
}

/** What is sent to a stream, until it is read. A delivery counts as pending until the next one is read. */
function createDeliveryQueue() {
  const queue: Delivery[] = []
  let size = 0
  let ended = false
  const arrived = createCondition()
  const emptied = createCondition()

  const sink: Sink = {
    write(delivery) {
      queue.push(delivery)
      size += delivery.bytes.length
      arrived.changed()
    },
    pending: () => size,
    drained: () => (queue.length === 0 || ended ? Promise.resolve() : emptied.wait()),
    end() {
      ended = true
      arrived.changed()
      emptied.changed()
    },
  }

  return {
    sink,
    /** Yields all deliveries until the end. */
    async *read(): AsyncGenerator<Delivery> {
      while (queue.length > 0 || !ended) {
        for (let next = queue.shift(); next; next = queue.shift()) {
          yield next
          size -= next.bytes.length
        }
        emptied.changed()
        if (!ended) await arrived.wait()
      }
    },
  }
}
