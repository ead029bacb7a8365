import type { PersistedEvent } from '../../lib/context.ts'
import { createDeliverAll } from '../../lib/live/feed/deliver-all.ts'
import type { FeedRow } from '../../lib/live/feed/feed-order.ts'
import { createFollowers } from '../../lib/live/feed/followers.ts'
import { catchUpFollower } from '../../lib/live/feed/replay-all.ts'
import { createTail } from '../../lib/live/feed/tail.ts'
import { createReplaySlots } from '../../lib/live/hub/replay-slots.ts'
import type { EventRow, NumberedEvent } from '../../lib/live/log/log.ts'
import { withActivities } from '../../lib/live/readers/delivery.ts'
import type { JoinedConversation, Reader } from '../../lib/live/readers/reader.ts'
import type { Interleaving } from './interleavings.ts'
import type { SimulatedServer } from './simulated-server.ts'

export type SimulatedNode = ReturnType<typeof createNode>

/** One of several processes with streams of all conversations: the real ones, on a simulated database. */
export function createNode(
  server: SimulatedServer,
  work: Interleaving,
  deps: { isFailing: () => boolean; listMemberships: (userId: string) => JoinedConversation[] },
) {
  async function answer(): Promise<void> {
    await work.pause()
    if (deps.isFailing() && work.chance(0.1)) throw new Error('The database does not respond')
  }
  const feed = server.feedOf(answer)
  const compose = async (rows: EventRow[]) => {
    await answer()
    // Long ones are not read at once.
    return rows.slice(0, work.chance(0.8) ? rows.length : 1 + work.below(rows.length)).map(toLine)
  }
  const followers = createFollowers()
  const all = createDeliverAll({
    followers,
    metrics: { delivered: () => {} } as never,
    send: (reader, delivery) => reader.sink.write(delivery),
  })
  const tail = createTail({
    ...{ feed, followers, compose },
    deliver: (events) => all.deliver(withActivities(events)),
    beforeDelivery: () => (work.chance(0.2) ? answer() : undefined),
    measure: () => {},
  })
  const slots = createReplaySlots(2)
  const page_bytes = work.pick([400, 4_000, 1_000_000])
  const begun = { commits: 0, hasFailed: true }

  function close(reader: Reader): void {
    if (reader.closed) return
    reader.closed = true
    slots.leave(reader)
    followers.remove(reader)
    tail.rest()
    reader.sink.end()
  }

  return {
    tail,
    feed,
    close,
    /** Sends a reader what it missed, and then all that is new. */
    async connect(reader: Reader, last_event_id: string | undefined): Promise<void> {
      await catchUpFollower(reader, last_event_id, {
        ...{ feed, tail, followers, all, compose, slots, close, page_bytes },
        async turn(_, doIt) {
          await work.pause()
          return reader.closed ? undefined : doIt()
        },
        drained: work.pause,
        recheck: answer,
        write: ({ sink }, delivery) => sink.write(delivery),
        async listMemberships(userId) {
          await answer()
          return deps.listMemberships(userId)
        },
        async countNotifications() {
          await answer()
          return 0
        },
      }).catch(() => close(reader))
    },

    /** Delivers a commit of this node, as the hub does. */
    committed(rows: FeedRow[], isKnown: boolean): void {
      const conversations = new Map<string, NumberedEvent[]>()
      for (const row of rows) {
        const before = conversations.get(row.conversation_id) ?? []
        conversations.set(row.conversation_id, isKnown ? [...before, toLine(row)] : [])
      }
      const isOfReader = rows.some((row) => row.user_id && followers.hasUser(row.user_id))
      if (isOfReader || [...conversations.keys()].some(followers.isRead))
        tail.advance({ conversations, rows }).catch(() => {
          begun.hasFailed = true
        })
      else tail.skipped()
    },

    /** Delivers what others have committed, as the poller does. */
    async poll(): Promise<void> {
      const { hasFailed } = begun
      begun.hasFailed = false
      try {
        await answer()
        const commits = server.countCommits()
        await answer()
        if (hasFailed) tail.skipped()
        if (followers.count() > 0 && (commits > begun.commits || tail.hasSkipped())) await tail.advance()
        begun.commits = commits
      } catch {
        begun.hasFailed = true
      }
    },
  }
}

/** The line of a row. `detail` is the change of a membership, or `gone` for an event whose subject is deleted. */
export function toLine({ seq, conversation_id, created_at: at, type, user_id, detail }: EventRow): NumberedEvent {
  const payload = { conversation_id, user_id, action: detail, role: 'member' }
  const event = { type, payload } as unknown as PersistedEvent
  return detail === 'gone' ? { seq, conversation_id, at } : { seq, conversation_id, at, event }
}
