import type { StoreMessage } from 'chat-server/client/store'

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
    ({ prompt, requested_by, status }) => prompt !== undefined && requested_by === user_id && status !== 'streaming',
  )
  return lastOwnOf([...messages, ...questions.map((message) => ({ ...message, author_user_id: user_id }))], user_id)
}
