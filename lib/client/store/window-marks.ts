import type { MessagesView, StoreClient } from './types.ts'

/** The list of a window, and the id of its conversation or thread. */
type Place = readonly [view: string, id: string]

/** Per client, the marks of seen messages that have not gone out, by their list. */
export const waitingMarks = new WeakMap<StoreClient, Map<string, unknown>>()

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
  client: StoreClient,
  [view, id]: Place,
  message_id: string,
  { messages: shown }: MessagesView,
): Promise<void> {
  // Sent later, it would take this back.
  waitingMarks.get(client)?.delete(`${view} ${id}`)
  if (view === 'replies') return client.threads.markUnread(id, { message_id })
  const from = view === 'all' ? shown.findIndex((message) => message.id === message_id) : -1
  if (from < 0) return client.conversations.markUnread(id, { message_id })
  await client.threads.markUnread(shown[from]!.root_id, { message_id })
  const root = shown.slice(from).find(({ parent_id, pending }) => !parent_id && !pending)
  if (root) await client.conversations.markUnread(id, { message_id: root.id })
}
