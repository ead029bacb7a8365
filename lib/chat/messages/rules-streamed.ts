import { shownParts } from '../../core/stored-parts.ts'
import type { Message } from './schema.ts'
import type { MessageRow } from './store.ts'

/** Whether the text of a message arrives, or has arrived, in chunks: an answer, or what a program streams. */
export function isStreamed({ role, status, finish_reason }: MessageRow): boolean {
  return role === 'assistant' || status === 'streaming' || finish_reason !== null
}

/** Adds to a message that a program streams what its readers get of that. */
export function addStreamed(message: Message, row: MessageRow): void {
  const { finish_reason, failure } = row
  const answered_id = row.invoked_by ?? row.answered_id
  if (answered_id && isStreamed(row)) message.requested_by = answered_id
  if (finish_reason) message.finish_reason = finish_reason
  if (failure && !row.deleted_at) message.failure = failure
  const parts = row.deleted_at ? undefined : shownParts(row)
  if (parts) message.parts = parts
}

/** A row as it was at the time of its post: of one that is streamed, later events of the log contain the text. */
export function toPostedRow(row: MessageRow): MessageRow {
  if (!isStreamed(row)) return row
  const ended = { edited_at: null, finish_reason: null, failure: null, usage: null, parts: null }
  const added = row.role === 'assistant' ? {} : { mention_all: null, mentioned: null, attachment_list: null }
  return { ...row, content: '', status: 'streaming', ...ended, ...added }
}
