import type { StoreMessage } from 'chat-server/client/store'

/** The id of the last answer to a user that is being written, by the assistant or a bot. */
export function runningOf(messages: readonly StoreMessage[], user_id: string): string | undefined {
  return messages.findLast(
    ({ status, requested_by, pending, deleted_at }) =>
      status === 'streaming' && requested_by === user_id && !pending && !deleted_at,
  )?.id
}
