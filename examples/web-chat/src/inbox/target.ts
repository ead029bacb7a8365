import type { Notification } from 'chat-server/client'
import { type Route, routeOfMessage } from '../app/route.ts'
import { type InboxRow, unreadOf } from './rows.ts'

/** Where a notification leads: to its message, to the conversation that the user was added to, or to the webhook. */
export function targetOf({ conversation_id, root_id, message_id, webhook }: Notification, layout?: string): Route {
  if (conversation_id === undefined) return { name: 'account', tab: 'webhooks', ...(webhook && { id: webhook.id }) }
  if (root_id === undefined) return { name: 'conversation', conversation_id }
  if (message_id === undefined) return { name: 'thread', conversation_id, root_id }
  return routeOfMessage({ conversation_id, root_id, message_id }, layout)
}

/** Where a row leads: to the first of its messages that is not read, else to the last one. */
export function targetOfRow(row: InboxRow, layout: string | undefined): Route {
  return targetOf(unreadOf(row).at(-1) ?? row.items[0], layout)
}
