import type { StoreMessage } from 'chat-server/client/store'
import { isRunning } from '../threads/is-running.ts'

/** The id of the last answer to a user that is being written, by the assistant or a bot. */
export function runningOf(messages: readonly StoreMessage[], user_id: string): string | undefined {
  return messages.findLast(
    (message) => isRunning(message) && message.requested_by === user_id && !message.pending && !message.deleted_at,
  )?.id
}
