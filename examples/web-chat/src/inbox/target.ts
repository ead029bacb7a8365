import type { Notification } from 'chat-server/client'
import type { Route } from '../app/route.ts'

/** Where a notification leads: to its message, or to the conversation that the user was added to. */
export function targetOf({ conversation_id, root_id, message_id }: Notification): Route {
  if (root_id === undefined) return { name: 'conversation', conversation_id }
  return { name: 'thread', conversation_id, root_id, ...(message_id !== undefined && { message_id }) }
}
