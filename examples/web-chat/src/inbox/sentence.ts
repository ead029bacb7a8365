import type { Notification } from 'chat-server/client'
import type { People } from '../app/people.ts'
import { texts } from '../texts/texts.ts'

/** Whether it is about an answer of the assistant, which has no author. */
export function isAnswer({ kind, actor_user_id }: Notification): boolean {
  return kind === 'reply' && actor_user_id === undefined
}

/** What has happened: who has done what. */
export function sentenceOf(item: Notification, people: People): string {
  const { kind, actor_user_id, count = 1 } = item
  const { kinds } = texts.value.inbox
  return kinds[kind](isAnswer(item) ? texts.value.assistant : people.nameOf(actor_user_id), count)
}
