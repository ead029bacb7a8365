import type { Notification } from 'chat-server/client'
import type { Route } from '../app/route.ts'
import { type InboxRow, unreadOf } from './rows.ts'

/** Where a notification leads: to its message, or to the conversation that the user was added to. */
export function targetOf({ conversation_id, root_id, message_id }: Notification): Route {
  if (root_id === undefined) return { name: 'conversation', conversation_id }
  return { name: 'thread', conversation_id, root_id, ...(message_id !== undefined && { message_id }) }
}

/** Where a row leads: to the first of its messages that is not read, else to the last one. */
export function targetOfRow(row: InboxRow): Route {
  return targetOf(unreadOf(row).at(-1) ?? row.items[0])
}
