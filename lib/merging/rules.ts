import type { ParticipantRole } from '../chat/conversations/schema.ts'
import type { ReadFloors } from '../chat/memberships/store.ts'
import { type Access, hasRight, PARTICIPANT_RIGHTS } from '../core/access.ts'
import type { Micros } from '../storage/sql.ts'

/** What a user may have at most to be merged: all of it is moved in one transaction. */
export const MAX_MESSAGES = 2_000
export const MAX_CONVERSATIONS = 200

/** The role of two participations that become one: the one with all rights of the other, else that of `into`. */
export function mergedRole(access: Access, from: ParticipantRole, into: ParticipantRole): ParticipantRole {
  const hasMore = PARTICIPANT_RIGHTS.every((right) => hasRight(access, from, right) || !hasRight(access, into, right))
  return hasMore ? from : into
}

/** How far a conversation is read by two participations that become one: what either has read. */
export function mergedFloors(from: ReadFloors, into: ReadFloors): ReadFloors {
  return {
    joined_at: Math.min(from.joined_at, into.joined_at),
    replies_read_to: Math.max(from.replies_read_to, into.replies_read_to),
    roots_read_to: Math.max(from.roots_read_to, into.roots_read_to),
    replies_read_at: Math.max(from.replies_read_at, into.replies_read_at),
    roots_read_at: Math.max(from.roots_read_at, into.roots_read_at),
  }
}

/** What a member of a thread has read and follows, as it is stored. */
export interface Marks {
  read_at: Micros
  reopened_at: Micros
  root_unread_at: Micros
  followed_at: Micros | null
}

/** A member of a thread; without floors the user is no participant. */
export interface Member {
  marks: Marks | undefined
  floors: ReadFloors | undefined
  /** Whether the member has written the root. */
  is_author: boolean
}

/** The marks of two members that become one; `read_to` is an instant, not the arrival of a message, as a read marker is. */
export interface MergedMarks extends Marks {
  read_to?: Micros
}

/**
 * The marks of two members of a thread that become one: a message that either has read is read.
 *
 * @param created_at when the thread began
 * @param floors of the participation that both become
 */
export function mergedMarks(
  created_at: Micros,
  { from, into }: { from: Member; into: Member },
  floors: ReadFloors | undefined,
): MergedMarks {
  const both = [from, into]
  const read_at = Math.max(...both.map(({ marks }) => marks?.read_at ?? 0))
  const followed_at = mergedFollowing(created_at, [into, from])
  if (!floors) return { read_at, reopened_at: 0, root_unread_at: 0, followed_at: null }
  const read_to = Math.max(read_at, ...both.map(repliesReadTo))
  // A mark of the whole conversation would read what both have put back since.
  const isReopened = read_to < floors.replies_read_to
  const isRootRead = both.some((member) => hasReadRoot(created_at, member))
  const isRootCovered = created_at <= floors.roots_read_to || Math.max(read_at, isReopened ? read_to : 0) >= created_at
  return {
    read_at,
    reopened_at: isReopened ? floors.replies_read_at + 1 : 0,
    root_unread_at: !isRootRead && isRootCovered ? floors.roots_read_at + 1 : 0,
    followed_at,
    ...(isReopened && read_to > read_at && { read_to }),
  }
}

/** Up to which arrival a participant has read replies by marks of the conversation that no later one of the thread ended. */
function repliesReadTo({ marks, floors }: Member): Micros {
  if (!floors || (marks?.reopened_at ?? 0) > floors.replies_read_at) return 0
  return floors.replies_read_to
}

function hasReadRoot(created_at: Micros, { marks, floors }: Member): boolean {
  if ((marks?.root_unread_at ?? 0) > (floors?.roots_read_at ?? 0)) return false
  return created_at <= (floors?.roots_read_to ?? 0) || (marks?.read_at ?? 0) >= created_at
}

/** Since when the thread is followed: by the first of the two, else by the other one; of two that follow, the earlier. */
function mergedFollowing(created_at: Micros, members: Member[]): Micros | null {
  if (members.every(({ marks }) => typeof marks?.followed_at !== 'number')) return null
  const wishes = members.flatMap((member) => followedSince(created_at, member) ?? [])
  const following = wishes.filter((wish) => wish > 0)
  return following.length === 2 ? Math.min(...following) : wishes[0]!
}

/** As it is stored; the author of the root follows from the beginning without a wish. */
function followedSince(created_at: Micros, { marks, floors, is_author }: Member): Micros | null {
  const isFromBeginning = is_author && floors !== undefined && floors.joined_at < created_at
  return marks?.followed_at ?? (isFromBeginning ? created_at : null)
}
