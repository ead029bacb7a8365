import type { FeedEvent } from '../../chat/feed/schema.ts'
import type { Message } from '../../chat/messages/schema.ts'

/** What a webhook wants of the events that its owner sees. */
export interface Wish {
  /** The user, or the bot, whose events it gets; `null` for the operator's. */
  user_id: string | null
  /** Whether messages of bots and hooks are sent. */
  bots: boolean
  /** Whether of new messages only those are sent that concern the user. */
  only_notified: boolean
}

/** What must be looked up to know whether a message concerns a user. */
export interface Surroundings {
  /** The authors of the messages that are replied to. */
  authors: ReadonlyMap<string, string | null>
  /** The conversations that are direct. */
  direct: ReadonlySet<string>
}

/** Whether an event is sent: not what the user has done itself, which would answer itself for ever. */
export function isSent(event: FeedEvent, wish: Wish, surroundings: Surroundings): boolean {
  const { user_id } = wish
  switch (event.type) {
    case 'message.new':
      return (
        isForeign(event.data.message, wish) &&
        (!wish.only_notified || concerns(event.data.message, user_id, surroundings))
      )
    case 'message.done':
      // An answer of the assistant has no author; what a bot streams is as new as its beginning.
      return (
        event.data.message?.author_user_id === undefined ||
        (isForeign(event.data.message, wish) &&
          (!wish.only_notified || concerns(event.data.message, user_id, surroundings)))
      )
    case 'message.edited':
      return isForeign(event.data.message, wish)
    case 'reactions.changed':
    case 'pin.changed':
      return user_id === null || event.data.user_id !== user_id
    default:
      return true
  }
}

function isForeign({ author_user_id, author_kind }: Message, { user_id, bots }: Wish): boolean {
  if (user_id !== null && author_user_id === user_id) return false
  return bots || author_kind !== 'bot'
}

function concerns(
  { conversation_id, parent_id, mentions }: Message,
  userId: string | null,
  { authors, direct }: Surroundings,
): boolean {
  if (userId === null || direct.has(conversation_id)) return true
  if (mentions?.all || mentions?.user_ids.includes(userId)) return true
  return parent_id !== undefined && authors.get(parent_id) === userId
}
