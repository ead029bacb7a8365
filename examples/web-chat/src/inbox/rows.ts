import type { Notification } from 'chat-server/client'

/** A row of the inbox: what concerns the user in a thread, or among the first messages of a room. */
export interface InboxRow {
  key: string
  /** Newest first: the row shows the first one. */
  items: [Notification, ...Notification[]]
}

/** The notifications, newest first, as rows. Messages of a direct conversation, and rooms the user was added to, stand for themselves. */
export function rowsOf(notifications: readonly Notification[]): InboxRow[] {
  const rows = new Map<string, InboxRow>()
  for (const item of notifications) {
    const key = keyOf(item)
    const row = rows.get(key)
    if (row) row.items.push(item)
    else rows.set(key, { key, items: [item] })
  }
  return [...rows.values()]
}

function keyOf({ id, kind, conversation_id, root_id, message_id }: Notification): string {
  if (kind === 'direct' || kind === 'added' || root_id === undefined) return id
  return message_id === root_id ? (conversation_id ?? id) : root_id
}

/** Those of a row that are not read. */
export const unreadOf = ({ items }: InboxRow) => items.filter(({ read_at }) => read_at === undefined)

/** Who has caused them, the last one first: `undefined` is the assistant, or an author who is not known. */
export const actorsOf = ({ items }: InboxRow) => [...new Set(items.map(({ actor_user_id }) => actor_user_id))]
