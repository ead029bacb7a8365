import type { App } from '../app/context.ts'
import { messageOf } from '../parts/error-note.tsx'
import { showToast } from '../parts/toast.tsx'
import type { OpenConversation } from './use-conversation.ts'

/**
 * Marks all of the open conversation as read, on Escape. What is open beside it is closed first, and a reader who does not
 * participate has nothing to mark.
 *
 * @returns whether it does
 */
export function markPlaceRead({ client, route }: App, { id, joined }: OpenConversation): boolean {
  if (route.peek().name !== 'conversation' || joined === false) return false
  const fail = (error: unknown) => showToast(messageOf(error), { isError: true })
  void client.conversations.markRead(id, { all: true }).catch(fail)
  return true
}
