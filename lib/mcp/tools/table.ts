import * as answers from './answers.ts'
import * as reading from './reading.ts'
import type { Tool } from './tool.ts'
import * as waiting from './waiting.ts'
import * as writing from './writing.ts'

/** Every tool, in the order of their list. */
export const TOOLS: Readonly<Record<string, Tool>> = {
  list_conversations: reading.list_conversations,
  list_threads: reading.list_threads,
  read_thread: reading.read_thread,
  search_messages: reading.search_messages,
  find_users: reading.find_users,
  list_notifications: reading.list_notifications,
  wait_for_messages: waiting.wait_for_messages,
  get_answer: answers.get_answer,
  post_message: writing.post_message,
  mark_read: writing.mark_read,
  ask_assistant: answers.ask_assistant,
  stop_answer: answers.stop_answer,
}
