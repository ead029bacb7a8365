import type { EphemeralEvent } from '../../context.ts'
import { ChatError } from '../../core/errors.ts'
import { singleFlight } from '../../core/scheduling/once.ts'
import { createPauses } from '../../core/scheduling/pauses.ts'
import type { DeliverAll } from '../feed/deliver-all.ts'
import type { Followers } from '../feed/followers.ts'
import type { Ephemeral } from '../transaction/transaction.ts'

/** The number of events that are completed at once. */
const BATCH = 200

/**
 * Beyond this many waiting events new ones are dropped: the streams get the number of unread notifications when they
 * reconnect.
 */
const MAX_WAITING = 10_000

/** A notification that stands for a thread or a direct conversation is sent again after this time only, as it is then. */
const PAUSE_MS = 1_000

/** An event for one user. */
export interface InboxEvent {
  user_id: string
  conversation_id: string
  event: EphemeralEvent
}

/** Sends events about the inboxes of users. */
export type InboxSender = ReturnType<typeof createInboxSender>

/**
 * Creates the sender of one process. It completes events only for users with a stream here, so a notification
 * costs nothing for a user who does not read.
 *
 * @param deps.complete adds what only the database knows, and leaves out events that are outdated
 */
export function createInboxSender(deps: {
  followers: Followers
  all: DeliverAll
  complete: (events: InboxEvent[]) => Promise<InboxEvent[]>
  /** Sends an event that was held. */
  sendHeld: (event: Ephemeral) => void
}) {
  const { followers, all, complete, sendHeld } = deps
  const waiting: InboxEvent[] = []
  const pauses = createPauses<string, Ephemeral>(PAUSE_MS, sendHeld)

  // One run at a time: the number of unread notifications of a later event is never older.
  const run = singleFlight(async () => {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH)
      const completed = await complete(batch).catch((error) => {
        // They wait while the storage fails; after another error they would fail again, and hold up all others.
        if (!(error instanceof ChatError)) waiting.splice(0, batch.length)
        throw error
      })
      waiting.splice(0, batch.length)
      for (const { user_id, ...delivered } of completed) all.deliverToUser(user_id, delivered)
    }
  })

  function add(events: readonly Ephemeral[]): void {
    for (const { user_ids = [], conversation_id, event } of events)
      for (const user_id of user_ids)
        if (followers.hasUser(user_id) && waiting.length < MAX_WAITING && !isHeld({ user_id, conversation_id, event }))
          waiting.push({ user_id, conversation_id, event })
  }

  /** Whether its notification was sent a moment ago. */
  function isHeld({ user_id, conversation_id, event }: InboxEvent): boolean {
    if (event.type !== 'notification.new') return false
    const { id, kind } = event.payload.notification
    if (kind !== 'direct' && kind !== 'reply') return false
    const own = { conversation_id, user_ids: [user_id], event }
    if (pauses.hold(user_id, id, own)) return true
    pauses.begin(user_id, id, own)
    return false
  }

  return {
    /** Whether any of these users has a stream here. */
    isRead: (userIds: readonly string[]) => userIds.some(followers.hasUser),

    /** Adds events that the next `send` sends. */
    add,

    close: pauses.close,

    /** Resolves when these events, and all that wait, are sent. @throws the error of `complete`; then they wait */
    async send(events: readonly Ephemeral[]): Promise<void> {
      add(events)
      while (waiting.length > 0 || run.current()) await run()
    },
  }
}
