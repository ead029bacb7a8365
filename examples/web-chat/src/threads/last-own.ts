import type { StoreMessage } from 'chat-server/client/store'
import { isRunning } from './is-running.ts'

/** The id of the last message, by arrival, that the user has written and not deleted. */
export function lastOwnOf(messages: readonly StoreMessage[], user_id: string): string | undefined {
  let last: StoreMessage | undefined
  for (const message of messages) {
    const isOwn = message.author_user_id === user_id && !message.pending && !message.deleted_at
    if (isOwn && (!last || message.created_at > last.created_at)) last = message
  }
  return last?.id
}

/** The id of the last message that the user can edit: an own one, or the answer to an own question. */
export function lastEditableOf(messages: readonly StoreMessage[], user_id: string): string | undefined {
  const questions = messages.filter(
    (message) => message.prompt !== undefined && message.requested_by === user_id && !isRunning(message),
  )
  return lastOwnOf([...messages, ...questions.map((message) => ({ ...message, author_user_id: user_id }))], user_id)
}
