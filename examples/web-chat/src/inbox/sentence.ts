import type { Notification } from 'chat-server/client'
import type { People } from '../app/people.ts'
import { texts } from '../texts/texts.ts'

/** What has happened: who has done what. An answer of the assistant has no author. */
export function sentenceOf({ kind, actor_user_id, count = 1 }: Notification, people: People): string {
  const { kinds } = texts.value.inbox
  const isAnswer = kind === 'reply' && actor_user_id === undefined
  return kinds[kind](isAnswer ? texts.value.assistant : people.nameOf(actor_user_id), count)
}
