import type { Micros } from '../../storage/sql.ts'
import type { Delivered, Delivery } from '../readers/delivery.ts'
import { createIndex, type Index } from '../readers/index-by.ts'
import type { JoinedConversation, Reader } from '../readers/reader.ts'

/** What a stream of all conversations of a user follows. */
export interface Following {
  /** The conversations, each with the time at which the user joined; `undefined` until they are read. */
  joined: Map<string, Micros> | undefined
  /** Changes of the user's memberships that arrived while they were read. */
  changes: Delivered[]
  /** Deliveries that wait until the missed events are sent; `undefined` for a live reader. */
  waiting: { deliveries: Delivery[]; bytes: number } | undefined
}

/** The readers of streams of all conversations of a user. */
export type Followers = ReturnType<typeof createFollowers>

/** An index from conversation, and from user, to the readers of streams of all conversations of a user. */
export function createFollowers() {
  const byConversation = createIndex<Reader>()
  const byUser = createIndex<Reader>()
  /** The readers of system actors, which participate in nothing. */
  const ofAll = new Set<Reader>()

  const { follow, apply } = createMemberships(byConversation)
  const ofUser = (userId: string) => [...byUser.get(userId)].filter((reader) => reader.following!.joined)
  return {
    count: () => byUser.size(),
    /** Whether a participant's reader follows a conversation. */
    hasConversation: (conversationId: string) => byConversation.get(conversationId).size > 0,
    /** Whether the events of the log of a conversation are for any reader. */
    isRead: (conversationId: string) => ofAll.size > 0 || byConversation.get(conversationId).size > 0,
    /** Whether a user has a reader: a change of the user's membership concerns it. */
    hasUser: (userId: string) => byUser.get(userId).size > 0,
    /** The readers of a user that follow its conversations already. */
    ofUser,

    /** Adds a reader, whose memberships are read next: it gets no events yet, but no change of these is missed. */
    add(reader: Reader): void {
      reader.following = { joined: undefined, changes: [], waiting: { deliveries: [], bytes: 0 } }
      byUser.add(reader.user_id, reader)
    },

    /** Follows the conversations that were read, with the changes since. From now on, deliveries wait for the reader. */
    follow(reader: Reader, memberships: JoinedConversation[]): void {
      const following = reader.following!
      following.joined = new Map()
      if (reader.is_system) ofAll.add(reader)
      for (const { conversation_id, joined_at } of memberships) follow(reader, conversation_id, joined_at)
      for (const change of following.changes.splice(0)) apply(reader, change)
    },

    remove(reader: Reader): void {
      byUser.remove(reader.user_id, reader)
      ofAll.delete(reader)
      for (const id of reader.following?.joined?.keys() ?? []) byConversation.remove(id, reader)
    },

    /** The readers that an event concerns: after it, those of a new participant follow the conversation. */
    concernedBy(delivered: Delivered): Reader[] {
      const { event, conversation_id = '', at, for_user_id } = delivered
      if (for_user_id !== undefined) return ofUser(for_user_id).filter((reader) => isIn(reader, conversation_id))
      // Without an instant it is not of the log.
      const everywhere = at === undefined ? [] : ofAll
      const isSince = (reader: Reader) => at === undefined || at >= reader.following!.joined!.get(conversation_id)!
      if (event.type !== 'membership.changed')
        return [...byConversation.get(conversation_id)].filter(isSince).concat(...everywhere)
      const { user_id } = event.payload
      const own = [...byUser.get(user_id)]
      for (const reader of own) {
        if (reader.following!.joined) apply(reader, delivered)
        else reader.following!.changes.push(delivered)
      }
      const others = [...byConversation.get(conversation_id)].filter(
        (follower) => follower.user_id !== user_id && isSince(follower),
      )
      return [...own.filter((reader) => reader.following!.joined), ...others, ...everywhere]
    },
  }
}

/** Whether a reader gets what is for its user alone in a conversation: one who has left it gets nothing. */
function isIn({ is_system, following }: Reader, conversationId: string): boolean {
  return is_system || following!.joined!.has(conversationId)
}

/** Keeps what each reader follows, and the index of it. */
function createMemberships(byConversation: Index<Reader>) {
  function follow(reader: Reader, conversationId: string, joinedAt: Micros): void {
    reader.following!.joined!.set(conversationId, joinedAt)
    byConversation.add(conversationId, reader)
  }

  return {
    follow,
    /** Applies a change of the membership of the reader's user. */
    apply(reader: Reader, { conversation_id = '', at = 0, event }: Delivered): void {
      const { joined } = reader.following!
      if (event.type !== 'membership.changed' || !joined) return
      if (event.payload.action === 'added') follow(reader, conversation_id, at)
      if (event.payload.action !== 'removed') return
      joined.delete(conversation_id)
      byConversation.remove(conversation_id, reader)
    },
  }
}
