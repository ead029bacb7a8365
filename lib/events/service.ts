import type * as v from 'valibot'
import type { Actor, Context } from '../context.ts'
import { visit } from '../conversations/access.ts'
import type { Delivered } from './channel.ts'
import type { Reader, Sink } from './hub.ts'
import { StreamQuery } from './schema.ts'

/** What each use-case takes last. */
export const inputs = { open: StreamQuery }

/** A stream whose reader may have it, with a place taken: connect it, or give the place back. */
export interface Opening {
  /** Starts sending. @returns how to leave */
  connect(sink: Sink): () => void
  cancel(): void
}

/**
 * Takes a place on a conversation's stream.
 *
 * @throws ChatError `not_found`; `too_many_streams`; `unavailable` while the service drains
 */
export async function open(
  ctx: Context,
  actor: Actor,
  conversationId: string,
  input: v.InferOutput<typeof StreamQuery>,
): Promise<Opening> {
  await visit(ctx.db, actor, conversationId)
  ctx.hub.reserve(actor.user_id)
  return {
    connect: (sink) => {
      const { user_id, session_id } = actor
      const reader: Reader = { conversation_id: conversationId, user_id, sink, ...(session_id && { session_id }) }
      return ctx.hub.connect(reader, input.last_event_id)
    },
    cancel: () => ctx.hub.release(actor.user_id),
  }
}

/**
 * A conversation's events as they come: what was missed since `lastEventId` first, then live ones, `stream.closed` last.
 * Leaving the loop, or aborting `signal`, closes the stream.
 *
 * @throws ChatError as {@link open}
 */
export async function* follow(
  ctx: Context,
  actor: Actor,
  conversationId: string,
  options: { lastEventId?: string; signal?: AbortSignal } = {},
): AsyncGenerator<Delivered> {
  const opening = await open(ctx, actor, conversationId, { last_event_id: options.lastEventId })
  const queue: Delivered[] = []
  let size = 0
  let ended = false
  let wake = () => {}
  let emptied = () => {}
  const leave = opening.connect({
    write({ bytes, events }) {
      queue.push(...events)
      size += bytes.length
      wake()
    },
    pending: () => size,
    drained: () => (queue.length === 0 || ended ? Promise.resolve() : new Promise((resolve) => (emptied = resolve))),
    end() {
      ended = true
      wake()
      emptied()
    },
  })
  const abort = () => {
    queue.length = 0
    leave()
  }
  options.signal?.addEventListener('abort', abort)
  if (options.signal?.aborted) abort()
  try {
    while (queue.length > 0 || !ended) {
      for (let next = queue.shift(); next; next = queue.shift()) yield next
      size = 0
      emptied()
      if (!ended) await new Promise<void>((resolve) => (wake = resolve))
    }
  } finally {
    options.signal?.removeEventListener('abort', abort)
    leave()
  }
}
