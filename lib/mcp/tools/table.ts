import * as reading from './reading.ts'
import type { Tool } from './tool.ts'
import * as writing from './writing.ts'

/** Every tool, in the order of their list. */
export const TOOLS: Readonly<Record<string, Tool>> = {
  list_conversations: reading.list_conversations,
  list_threads: reading.list_threads,
  read_thread: reading.read_thread,
  search_messages: reading.search_messages,
  find_users: reading.find_users,
  list_notifications: reading.list_notifications,
  post_message: writing.post_message,
  mark_read: writing.mark_read,
}
