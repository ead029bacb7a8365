import { join, name, sql } from '../../storage/sql.ts'
import type { Invariant } from './invariant.ts'

/** The columns that would name a merged user. */
const NAMING = {
  users: 'id',
  participants: 'user_id',
  messages: 'posted_by',
  thread_members: 'user_id',
  reactions: 'user_id',
  notifications: 'user_id',
  attachments: 'uploaded_by',
}
const NAMED_BY_MERGED = Object.entries(NAMING).map(
  ([table, column]) =>
    sql`SELECT gone.from_id AS id FROM merged_users gone JOIN ${name(table)} o ON ${name(`o.${column}`)} = gone.from_id`,
)

/** Nothing is left of a user who was merged into another. */
export const MERGED: Invariant = {
  name: 'merged-names-nothing',
  says: 'No user has the id of one who was merged into another, and no message, participation or reaction.',
  remedy: 'Restore a backup, or delete the row of `merged_users` and merge the user again.',
  find: join(NAMED_BY_MERGED, ' UNION '),
}
