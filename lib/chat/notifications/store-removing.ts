import type { Cutoff } from '../../core/clock.ts'
import type { Queries } from '../../storage/database.ts'
import { among, type Micros, type Sql, sql } from '../../storage/sql.ts'
import { addToMentions } from '../../storage/unread-mentions.ts'
import { mentionGroups } from './rules.ts'
import type { NotificationKind } from './schema.ts'

/** The notifications of kind `direct` that show one of these messages. By (root_id). */
const shows = (these: Sql) => sql`kind = 'direct' AND message_id ${these}
  AND root_id IN (SELECT m.root_id FROM messages m WHERE m.id ${these})`

/** Removes the actor of notifications of these messages, whose author is erased: of the other kinds it is the author. */
export async function removeActor(tx: Queries, messageIds: readonly string[]): Promise<void> {
  await tx.run(sql`UPDATE notifications SET actor_user_id = NULL WHERE ${shows(among(tx, messageIds))}`)
}

/** Removes the notifications of messages whose texts are erased, in conversations that are locked. By primary key. */
export async function removeOfMessages(tx: Queries, messageIds: readonly string[]): Promise<void> {
  const these = among(tx, messageIds)
  const messages = await tx.all<{ id: string; conversation_id: string }>(
    sql`SELECT id, conversation_id FROM messages WHERE id ${these}`,
  )
  const rows = await tx.all<RemovedRow>(sql`DELETE FROM notifications WHERE id ${these} RETURNING ${REMOVED}`)
  await countRemoved(tx, rows, new Map(messages.map((message) => [message.id, message.conversation_id])))
  await tx.run(sql`DELETE FROM notifications WHERE ${shows(these)}`)
  // Unread ones show another message.
  await tx.run(
    sql`DELETE FROM notifications WHERE scope_id IS NOT NULL AND read_at IS NOT NULL AND message_id ${these}`,
  )
}

interface RemovedRow {
  id: string
  user_id: string
  kind: NotificationKind
  read_at: Micros | null
  hidden: number
}

const REMOVED = sql`id, user_id, kind, read_at, hidden`

/** Subtracts removed notifications from the unread mentions of their users. */
async function countRemoved(
  tx: Queries,
  rows: RemovedRow[],
  conversationOf: ReadonlyMap<string, string | null>,
): Promise<void> {
  const unread = rows.flatMap(({ id, user_id, kind, read_at, hidden }) => {
    const conversation_id = conversationOf.get(id)
    return read_at === null && hidden === 0 && conversation_id ? { kind, conversation_id, users: [{ user_id }] } : []
  })
  await addToMentions(tx, mentionGroups(unread), -1)
}

/** What an inbox keeps: nothing from before an instant, and the latest ones only. */
export interface Kept {
  before: Cutoff
  most: number
}

/** An inbox of which everything up to an instant is to be removed. */
export interface FullInbox {
  user_id: string
  up_to: Micros
}

/**
 * The users whose inboxes contain more than they keep, among the next `limit` users after one, by id. By (user_id, at).
 *
 * @returns with `last`, the user to continue after; `undefined` if there are no more
 */
export async function listFull(
  db: Queries,
  { before, most }: Kept,
  after: string,
  limit: number,
): Promise<{ full: FullInbox[]; last: string | undefined }> {
  const rows = await db.all<{ user_id: string; oldest: Micros | null; beyond: Micros | null }>(
    sql`SELECT u.id AS user_id, (SELECT min(n.at) FROM notifications n WHERE n.user_id = u.id) AS oldest,
            (SELECT n.at FROM notifications n WHERE n.user_id = u.id
              ORDER BY n.at DESC LIMIT 1 OFFSET CAST(${most} AS BIGINT)) AS beyond
       FROM (SELECT id FROM users WHERE id > ${after} ORDER BY id LIMIT ${limit}) AS u
      ORDER BY u.id`,
  )
  const full = rows.flatMap(({ user_id, oldest, beyond }) => {
    if (beyond === null && (oldest === null || oldest >= before)) return []
    return { user_id, up_to: Math.max(before - 1, beyond ?? 0) }
  })
  return { full, last: rows.length === limit ? rows.at(-1)!.user_id : undefined }
}

/** Deletes up to `limit` notifications of an inbox, oldest first. By (user_id, at). @returns the number */
export async function removeOldest(tx: Queries, { user_id, up_to }: FullInbox, limit: number): Promise<number> {
  const old = await tx.all<{ id: string; at: Micros; conversation_id: string | null }>(
    sql`SELECT n.id, n.at, coalesce(n.conversation_id, m.conversation_id) AS conversation_id
       FROM notifications n LEFT JOIN messages m ON m.id = n.id
      WHERE n.user_id = ${user_id} AND n.at <= ${up_to} ORDER BY n.at LIMIT ${limit}`,
  )
  if (old.length === 0) return 0
  const ids = old.map(({ id }) => id)
  // In the order of ids, so that two calls cannot deadlock: what changes the counts waits.
  if (tx.dialect === 'postgresql')
    await tx.all(
      sql`SELECT id FROM conversations
            WHERE id ${among(tx, new Set(old.flatMap(({ conversation_id }) => conversation_id ?? [])))}
            ORDER BY id FOR UPDATE`,
    )
  const rows = await tx.all<RemovedRow>(
    // Not up to `up_to`: each batch would read all that are to be removed.
    sql`DELETE FROM notifications WHERE user_id = ${user_id} AND id ${among(tx, ids)} AND at <= ${old.at(-1)!.at}
      RETURNING ${REMOVED}`,
  )
  await countRemoved(tx, rows, new Map(old.map(({ id, conversation_id }) => [id, conversation_id])))
  return old.length
}

/**
 * Deletes up to `limit` notifications of an erased user, and removes the user as the actor that added others. By the
 * indexes of each.
 *
 * @returns whether there may be more
 */
export async function eraseFromInboxes(tx: Queries, userId: string, limit: number): Promise<boolean> {
  const inbox = await tx.run(
    sql`DELETE FROM notifications WHERE (id, user_id) IN (
       SELECT id, user_id FROM notifications WHERE user_id = ${userId} ORDER BY at LIMIT ${limit})`,
  )
  const acts = await tx.run(
    sql`UPDATE notifications SET actor_user_id = NULL WHERE (id, user_id) IN (
       SELECT id, user_id FROM notifications WHERE actor_user_id = ${userId} AND kind = 'added' LIMIT ${limit})`,
  )
  return Math.max(inbox, acts) === limit
}
