import type { ConversationSummary } from 'chat-server/client'
import { nameOf } from '../app/people.ts'
import { texts } from '../texts/texts.ts'

/** What a conversation is called: of a direct one, the name of the other person. */
export function titleOf(conversation: Pick<ConversationSummary, 'title' | 'with' | 'direct'>): string {
  if (conversation.direct) return nameOf(conversation.with)
  return conversation.title || texts.value.conversations.untitled
}
