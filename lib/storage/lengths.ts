import { LONGEST } from '../core/lengths.ts'
import type { Row } from './database.ts'

/** A username is stored in NFC, which may make it three times as long (https://unicode.org/faq/normalization.html). */
const NFC_GROWTH = 3

/** The longest texts of those columns that hold what users wrote, in UTF-16 units, as the API takes them. */
const LONGEST_OF: Record<string, Record<string, number>> = {
  users: { email: LONGEST.email, username: NFC_GROWTH * LONGEST.username, display_name: LONGEST.name },
  conversations: { title: LONGEST.title },
  invites: { email: LONGEST.email },
  messages: { prompt: LONGEST.message, delete_reason: LONGEST.remark },
  message_revisions: { reason: LONGEST.remark },
  identities: { subject: LONGEST.subject, issuer: LONGEST.url },
  api_keys: { name: LONGEST.label },
  limit_profiles: { description: LONGEST.remark },
}

/** Where answers of the assistant are. */
const HOLDS_ANSWERS = ['messages', 'message_revisions', 'message_chunks']

/** What is too long in a row of an archive, if anything is, such as `users.username has 70 characters, …`. */
export function findTooLong(table: string, row: Row): string | undefined {
  for (const [column, value] of Object.entries(row)) {
    const longest = longestOf(table, column, row)
    if (typeof value === 'string' && value.length > longest)
      return `${table}.${column} has ${value.length} characters; at most ${longest} can be stored`
  }
  return undefined
}

function longestOf(table: string, column: string, row: Row): number {
  if (column === 'content' && HOLDS_ANSWERS.includes(table) && row.role !== 'user') return LONGEST.answer
  // What is not named is made by the service, such as paths and JSON: none of it is longer than a message.
  return LONGEST_OF[table]?.[column] ?? LONGEST.message
}
