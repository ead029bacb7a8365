import type { Queries } from '../../storage/database.ts'
import { listOwnFeedback } from '../feedback/store.ts'
import type { Message } from './schema.ts'
import { type LightMessageRow, listMessages, type MessageRow } from './store.ts'
import { listQuoted } from './store-quotes.ts'
import { withReacted } from './store-reactions.ts'

/** Adds long texts and quoted messages to rows, and leaves out rows that were deleted in the meantime. */
export async function withTexts(db: Queries, rows: LightMessageRow[]): Promise<MessageRow[]> {
  const long = rows.filter((row) => row.content === null).map((row) => row.id)
  const longBy = new Map((long.length > 0 ? await listMessages(db, long) : []).map((row) => [row.id, row]))
  const all = rows.flatMap((row) => (row.content === null ? (longBy.get(row.id) ?? []) : (row as MessageRow)))
  return withQuotes(db, all)
}

/**
 * Adds the quoted messages to rows, by one statement; without a quote, by none. A deleted message has no quote, and neither
 * has one whose quoted message is not in its conversation: an archive may name any message.
 */
export async function withQuotes(db: Queries, rows: MessageRow[]): Promise<MessageRow[]> {
  const ids = new Set(rows.flatMap(({ quote_id, deleted_at }) => (quote_id && !deleted_at ? quote_id : [])))
  if (ids.size === 0) return rows
  const quotedBy = new Map((await listQuoted(db, ids)).map((quoted) => [quoted.id, quoted]))
  return rows.map((row) => {
    const quoted = row.quote_id && !row.deleted_at ? quotedBy.get(row.quote_id) : undefined
    return quoted?.conversation_id === row.conversation_id ? { ...row, quoted } : row
  })
}

/** Adds what is a reader's own to messages that were just read: reactions, and ratings of answers. */
export async function withOwn(db: Queries, userId: string, messages: Message[]): Promise<Message[]> {
  const answers = messages.filter(({ role, deleted_at }) => role === 'assistant' && !deleted_at)
  if (answers.length > 0) {
    const own = await listOwnFeedback(
      db,
      userId,
      answers.map(({ id }) => id),
    )
    for (const message of answers) {
      const feedback = own.get(message.id)
      if (feedback) message.feedback = feedback
    }
  }
  return withReacted(db, userId, messages)
}
