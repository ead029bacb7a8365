import type { UnreadParts } from '../../storage/unread-counts.ts'
import { layoutOf } from '../memberships/rules-look.ts'

/** The numbers of unread messages of a conversation that its readers get. */
export interface UnreadNumbers {
  /** All messages. */
  total: number
  /** What the layout counts of them. */
  unread: number
  /** The replies that concern the reader. */
  unread_replies: number
}

/** The numbers of a conversation as an event has them that is about one of its threads. */
export const ofConversation = ({ unread, unread_replies }: UnreadNumbers) => ({
  conversation_unread: unread,
  conversation_unread_replies: unread_replies,
})

/** All replies of a direct conversation concern both of its people; a stream counts no others beside its roots. */
export function toUnread(
  look: Parameters<typeof layoutOf>[0],
  { roots, replies, followed }: Omit<UnreadParts, 'threads'>,
): UnreadNumbers {
  const total = roots + replies
  const unread_replies = look.is_direct === 1 ? replies : followed
  return { total, unread: layoutOf(look) === 'stream' ? roots + unread_replies : total, unread_replies }
}
