import type { Message } from 'chat-server/client'
import type { People } from '../app/people.ts'
import { texts } from '../texts/texts.ts'

/** The name of who has written a message. */
export function authorOf(
  { role, author_user_id, assistant }: Pick<Message, 'role' | 'author_user_id' | 'assistant'>,
  people: People,
): string {
  if (role === 'assistant') return people.assistants.infoOf(assistant).title
  return role === 'system' ? texts.value.app : people.nameOf(author_user_id)
}
