import type { Queries } from '../../storage/database.ts'
import { among, type Micros, type Sql, sql } from '../../storage/sql.ts'
import { addToMentions } from '../../storage/unread-mentions.ts'
import { mentionGroups } from './rules.ts'
import type { NotificationKind } from './schema.ts'

/** A message whose notifications change, in a conversation that is locked. */
export interface ChangedMessage {
  id: string
  conversation_id: string
  root_id: string
  posted_by: string | null
  created_at: Micros
}

/** A notification after a change. */
export interface Changed {
  user_id: string
  kind: NotificationKind
  read_at: Micros | null
  hidden: number
}

const CHANGED = sql`user_id, kind, read_at, hidden`

/** Changes the unread mentions of the users of these, which are unread. @returns the users with an unread one */
export async function countBy(
  tx: Queries,
  conversationId: string,
  rows: Pick<Changed, 'user_id' | 'kind' | 'read_at'>[],
  by: 1 | -1,
): Promise<string[]> {
  const unread = rows.filter(({ read_at }) => read_at === null)
  const counted = unread.map(({ user_id, kind }) => ({ kind, conversation_id: conversationId, users: [{ user_id }] }))
  await addToMentions(tx, mentionGroups(counted), by)
  return unread.map(({ user_id }) => user_id)
}

/**
 * Hides the notifications of a message, which is deleted now, except those of a scope. By primary key.
 *
 * @returns the users whose number of unread notifications has changed
 */
export async function hideDeleted(tx: Queries, message: ChangedMessage): Promise<string[]> {
  const rows = await tx.all<Changed>(
    sql`UPDATE notifications SET hidden = hidden + 1
      WHERE id = ${message.id} AND hidden IN (0, 2) RETURNING ${CHANGED}`,
  )
  const hiddenRows = rows.filter(({ hidden }) => hidden === 1)
  return countBy(tx, message.conversation_id, hiddenRows, -1)
}

/** Shows them again as they were: the message is restored now. By primary key. @returns as {@link hideDeleted} */
export async function showRestored(tx: Queries, message: ChangedMessage): Promise<string[]> {
  const rows = await tx.all<Changed>(
    sql`UPDATE notifications SET hidden = hidden - 1
      WHERE id = ${message.id} AND hidden IN (1, 3) RETURNING ${CHANGED}`,
  )
  const back = rows.filter(({ hidden }) => hidden === 0)
  return countBy(tx, message.conversation_id, back, 1)
}

/** Whose notifications of a message an edit changes, and of which kind they are. */
export type Whose = { kind: 'mention'; user_ids: string[] } | { kind: 'mention_all' }

function whose(tx: Queries, given: Whose): Sql {
  return given.kind === 'mention_all' ? sql`1 = 1` : sql`user_id ${among(tx, given.user_ids)}`
}

/** Takes unread notifications back whose mentions an edit has removed. @returns the users */
export async function withdraw(tx: Queries, message: ChangedMessage, given: Whose): Promise<string[]> {
  const rows = await tx.all<Changed>(
    sql`UPDATE notifications SET hidden = 2
      WHERE id = ${message.id} AND read_at IS NULL AND hidden = 0 AND kind = ${given.kind} AND ${whose(tx, given)}
      RETURNING ${CHANGED}`,
  )
  return countBy(tx, message.conversation_id, rows, -1)
}

/**
 * Brings back what was withdrawn, whatever it was then: no user is notified twice of one message.
 *
 * @returns the users
 */
export async function reinstate(tx: Queries, message: ChangedMessage, given: Whose): Promise<string[]> {
  const rows = await tx.all<Changed>(
    sql`UPDATE notifications SET hidden = 0, kind = ${given.kind}
      WHERE id = ${message.id} AND hidden = 2 AND ${whose(tx, given)} RETURNING ${CHANGED}`,
  )
  return countBy(tx, message.conversation_id, rows, 1)
}

/** Gives notifications of a message to these users another kind, which counts as the one before. */
export async function changeKind(
  tx: Queries,
  messageId: string,
  userIds: string[],
  kinds: { from: NotificationKind; to: NotificationKind },
): Promise<void> {
  if (userIds.length === 0) return
  await tx.run(
    sql`UPDATE notifications SET kind = ${kinds.to} WHERE id = ${messageId} AND kind = ${kinds.from} AND hidden = 0
          AND user_id ${among(tx, userIds)}`,
  )
}

/** The users who have a notification of a message, hidden ones included; not of a scope. By primary key. */
export async function listNotified(tx: Queries, messageId: string): Promise<Set<string>> {
  const rows = await tx.all<{ user_id: string }>(sql`SELECT user_id FROM notifications WHERE id = ${messageId}`)
  return new Set(rows.map(({ user_id }) => user_id))
}
