import type { EphemeralEvent } from '../../context.ts'
import { fromInstant, toInstant } from '../../core/time.ts'
import { SECOND } from '../../core/units.ts'
import type { Micros } from '../../storage/sql.ts'
import type { Delivered } from '../readers/delivery.ts'
import type { Ephemeral } from '../transaction/transaction.ts'

/**
 * How long after a post typing of its author that began before it may arrive from another process: it is gathered there, and
 * read here, within this time. Later, the clocks of the processes need not agree.
 */
const PASSED_ON_MS = 500

/** The maximum number of users in conversations: beyond it the oldest are forgotten, whose typing ends by its own time. */
const MAX_USERS = 10_000

/** Which users the streams of this process show as typing: a post ends that of its author, without a word of the client. */
export type Typings = ReturnType<typeof createTypings>

export function createTypings(now: () => Micros) {
  const typing: TypingUntil = new Map()
  // The last message of a user in a conversation, the oldest first.
  const posted = new Map<string, { created_at: Micros; delivered_at: number }>()

  function endsOf({ event }: Delivered): Delivered[] {
    if (event.type !== 'message.new') return []
    const { conversation_id, author_user_id, requested_by, created_at } = event.payload.message
    const user_id = author_user_id ?? requested_by
    if (user_id === undefined) return []
    const key = `${conversation_id} ${user_id}`
    posted.delete(key)
    posted.set(key, { created_at: fromInstant(created_at), delivered_at: performance.now() })
    forgetOldest(posted)
    const expires_at = toInstant(fromInstant(created_at) - SECOND)
    // Kept until it ends by itself: the streams of one conversation and those of all are sent the message one by one.
    return [...(typing.get(key) ?? [])].flatMap(([root_id, until]) => {
      if (until <= now()) return []
      const payload = { conversation_id, ...(root_id && { root_id }), user_id, expires_at }
      return { conversation_id, event: { type: 'typing.update' as const, payload } }
    })
  }

  return {
    /** Notes an event that is sent to the streams of this process. */
    note(event: EphemeralEvent): void {
      if (event.type === 'typing.update') note(typing, event.payload, now())
    },

    /** New events of the log, each message with the end of its author's typing behind it. */
    withEnds(events: Delivered[]): Delivered[] {
      const ends = new Map(events.map((typing) => [typing, endsOf(typing)]))
      return [...ends.values()].every(({ length }) => length === 0)
        ? events
        : events.flatMap((typing) => [typing, ...ends.get(typing)!])
    },

    /** An event with what {@link isCurrent} needs on other processes. */
    dated: (event: Ephemeral): Ephemeral => (event.event.type === 'typing.update' ? { ...event, at: now() } : event),

    /** Whether an event of another process is not outdated by a later post of the same user. */
    isCurrent({ event, at }: Ephemeral): boolean {
      if (event.type !== 'typing.update' || at === undefined) return true
      const { conversation_id, user_id } = event.payload
      const post = posted.get(`${conversation_id} ${user_id}`)
      return !post || at > post.created_at || performance.now() - post.delivered_at > PASSED_ON_MS
    },
  }
}

/** By conversation and user: until when the user types, by thread. */
type TypingUntil = Map<string, Map<string | undefined, Micros>>

function note(typing: TypingUntil, payload: TypingPayload, now: Micros): void {
  const { conversation_id, user_id, root_id, expires_at } = payload
  const key = `${conversation_id} ${user_id}`
  const threads = typing.get(key) ?? new Map<string | undefined, Micros>()
  threads.set(root_id, fromInstant(expires_at))
  // Also removes what has ended by itself: a user may type in any number of threads one after another.
  for (const [thread, until] of threads) if (until <= now) threads.delete(thread)
  typing.delete(key)
  if (threads.size > 0) typing.set(key, threads)
  forgetOldest(typing)
}

type TypingPayload = Extract<EphemeralEvent, { type: 'typing.update' }>['payload']

function forgetOldest(entries: Map<string, unknown>): void {
  if (entries.size <= MAX_USERS) return
  for (const oldest of entries.keys()) {
    entries.delete(oldest)
    return
  }
}
