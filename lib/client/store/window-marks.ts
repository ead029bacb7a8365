import type { MessagesView, StoreClient } from './types.ts'

/** The list of a window, and the id of its conversation or thread. */
type Place = readonly [view: string, id: string]

/** Marks the messages of a window as read: all, or those that arrived up to one. */
export function markRead(
  { conversations, threads }: StoreClient,
  [view, id]: Place,
  message_id?: string,
): Promise<void> {
  if (view === 'replies') return threads.markRead(id, { message_id })
  return conversations.markRead(id, { ...(view === 'all' && { all: true }), message_id })
}

/**
 * Marks the messages of a window as unread from one on: those of its thread, and the first messages of threads from there on.
 *
 * @param shown the messages of the window
 */
export async function markUnread(
  { conversations, threads }: StoreClient,
  [view, id]: Place,
  message_id: string,
  { messages: shown }: MessagesView,
): Promise<void> {
  if (view === 'replies') return threads.markUnread(id, { message_id })
  const from = view === 'all' ? shown.findIndex((message) => message.id === message_id) : -1
  if (from < 0) return conversations.markUnread(id, { message_id })
  await threads.markUnread(shown[from]!.root_id, { message_id })
  const root = shown.slice(from).find(({ parent_id, pending }) => !parent_id && !pending)
  if (root) await conversations.markUnread(id, { message_id: root.id })
}
