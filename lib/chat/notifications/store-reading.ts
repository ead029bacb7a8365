import type { Place } from '../../core/pages.ts'
import type { Queries } from '../../storage/database.ts'
import { among, each, literal, type Micros, type Sql, sql } from '../../storage/sql.ts'
import { addToMentions, IS_COUNTED_APART } from '../../storage/unread-mentions.ts'
import { mentionGroups } from './rules.ts'
import type { NotificationKind } from './schema.ts'

/** A notification that was unread until now. */
interface ReadRow {
  id: string
  kind: NotificationKind
  hidden: number
}

/** A participant, and what decides which unread notifications the conversation may have for them. */
export interface NotifiedReader {
  user_id: string
  conversation_id: string
  is_direct: number
  unread_mentions: number
}

/**
 * Marks the notifications of a thread as read whose messages arrived up to an instant, and that of being added to the
 * conversation, but none of a scope, in a transaction that has locked the conversation. By (user_id, at); if none of the conversation is unread,
 * by the index of hidden ones.
 *
 * @returns their ids
 */
export async function readInThread(
  tx: Queries,
  reader: NotifiedReader,
  rootId: string,
  upTo: Micros,
  now: Micros,
): Promise<string[]> {
  const rows = await readOfMessages(tx, reader, sql`m.root_id = ${rootId} AND m.created_at <= ${upTo}`, now)
  return countAll(tx, reader, rows)
}

/**
 * Marks the notifications of a conversation as read whose messages, or roots, arrived up to an instant, and that of being
 * added to it, in a transaction that has locked the conversation. As {@link readInThread}.
 *
 * @returns their ids
 */
export async function readInConversation(
  tx: Queries,
  reader: NotifiedReader,
  { scope, at, added_to }: { scope: 'roots' | 'all'; at: Micros; added_to?: Micros },
  now: Micros,
): Promise<string[]> {
  const { conversation_id } = reader
  const inScope = scope === 'roots' ? sql`AND m.parent_id IS NULL` : sql``
  const messages = sql`m.conversation_id = ${conversation_id} AND m.created_at <= ${at} ${inScope}`
  return countAll(tx, reader, await readOfMessages(tx, reader, messages, now, added_to))
}

/**
 * Marks all notifications of a user in conversations as read, which are locked and read to the end; those of being added to
 * them up to an instant. By the unread notifications of the user. Their unread mentions are not counted down.
 *
 * With `IS TRUE`, PostgreSQL looks the conversations up in a hash table. It would join them, and guesses that they are few: of
 * ten thousand, the statement would not end in time.
 *
 * @returns the ids of those that were shown
 */
export async function readEverythingIn(
  tx: Queries,
  userId: string,
  conversationIds: readonly string[],
  { added_to, now }: { added_to: Micros; now: Micros },
): Promise<string[]> {
  const ids = sql`SELECT n.id FROM notifications n LEFT JOIN messages m ON m.id = n.id
      WHERE n.user_id = ${userId} AND n.read_at IS NULL AND (n.kind <> 'added' OR n.at <= ${added_to})
        AND (coalesce(n.conversation_id, m.conversation_id) IN (SELECT value FROM ${each(tx, conversationIds)})) IS TRUE`
  const rows = await read(tx, userId, ids, now)
  return rows.filter(({ hidden }) => hidden === 0).map(({ id }) => id)
}

/** Marks notifications as read whose message `m` meets a condition, and that of being added to the conversation. */
async function readOfMessages(
  tx: Queries,
  reader: NotifiedReader,
  messages: Sql,
  now: Micros,
  added_to?: Micros,
): Promise<ReadRow[]> {
  const { user_id, conversation_id, unread_mentions } = reader
  const isUnread = sql`n.user_id = ${user_id} AND n.read_at IS NULL AND ${messages}`
  return read(
    tx,
    user_id,
    sql`SELECT n.id FROM notifications n JOIN messages m ON m.id = n.id
      WHERE ${isUnread} ${unread_mentions > 0 ? sql`` : sql`AND n.hidden > 0`}
     UNION ALL
     SELECT id FROM notifications
      WHERE user_id = ${user_id} AND conversation_id = ${conversation_id} AND read_at IS NULL AND kind = 'added'
        AND ${IS_COUNTED_APART} ${added_to === undefined ? sql`` : sql`AND at <= ${added_to}`}`,
    now,
  )
}

function read(tx: Queries, userId: string, ids: Sql, now: Micros): Promise<ReadRow[]> {
  return tx.all<ReadRow>(
    sql`UPDATE notifications SET read_at = ${now} WHERE user_id = ${userId} AND id IN (${ids})
          RETURNING id, kind, hidden`,
  )
}

/** Counts notifications as read. @returns the ids of those that were shown */
async function countAll(tx: Queries, { user_id, conversation_id }: NotifiedReader, rows: ReadRow[]): Promise<string[]> {
  await countRead(
    tx,
    user_id,
    rows.map((row) => ({ ...row, conversation_id })),
  )
  return rows.filter(({ hidden }) => hidden === 0).map(({ id }) => id)
}

/** A notification, and its conversation. */
export interface Found {
  id: string
  conversation_id: string
}

/** Which unread notifications are meant: some by their ids, or all up to a place. */
export type Meant = { ids: readonly string[] } | { upTo: Place }

/** The size of a part of them; PostgreSQL must know it when it plans. */
const PART = 256

/**
 * A part of them, newest first, with the place at which it ends: those in conversations in which the user participates, and
 * those of kind `system`. By (user_id, at, id), or by primary key.
 */
export async function listMeant(
  db: Queries,
  userId: string,
  meant: Meant,
): Promise<{ found: Found[]; system: string[]; last: Place | undefined }> {
  const isMeant =
    'ids' in meant ? sql`id ${among(db, meant.ids)}` : sql`(at, id) <= (${meant.upTo.at}, ${meant.upTo.id})`
  const rows = await db.all<{ id: string; kind: NotificationKind; at: Micros; conversation_id: string | null }>(
    sql`SELECT n.id, n.kind, n.at, CASE WHEN n.hidden = 0 THEN p.conversation_id END AS conversation_id
       FROM (SELECT id, kind, at, hidden, conversation_id FROM notifications
              WHERE user_id = ${userId} AND read_at IS NULL AND ${isMeant}
              ORDER BY at DESC, id DESC
              LIMIT ${literal(PART)}) AS n
       LEFT JOIN messages m ON m.id = n.id
       LEFT JOIN conversations c ON c.id = coalesce(n.conversation_id, m.conversation_id) AND c.deleted_at IS NULL
       LEFT JOIN participants p ON p.conversation_id = c.id AND p.user_id = ${userId}
      ORDER BY n.at DESC, n.id DESC`,
  )
  return {
    found: rows.flatMap(({ id, conversation_id }) => (conversation_id ? { id, conversation_id } : [])),
    system: rows.flatMap(({ id, kind }) => (kind === 'system' ? id : [])),
    last: rows.length === PART ? rows.at(-1) : undefined,
  }
}

/**
 * Locks those of these conversations in which a user participates, in the order of ids, so that two calls cannot
 * deadlock: what changes their notifications and counts waits.
 */
export async function lockConversations(tx: Queries, userId: string, ids: Iterable<string>): Promise<Set<string>> {
  const rows = await tx.all<{ id: string }>(
    sql`SELECT c.id FROM conversations c JOIN participants p ON p.conversation_id = c.id AND p.user_id = ${userId}
      WHERE c.id ${among(tx, ids)} AND c.deleted_at IS NULL
      ORDER BY c.id ${tx.dialect === 'postgresql' ? sql`FOR UPDATE OF c` : sql``}`,
  )
  return new Set(rows.map(({ id }) => id))
}

/** Locks conversations as {@link lockConversations} does, where a transaction that writes does not lock all. */
export async function lockAll(tx: Queries, ids: Iterable<string>): Promise<void> {
  if (tx.dialect === 'sqlite') return
  await tx.get(
    sql`SELECT count(*) AS count FROM
          (SELECT 1 FROM conversations WHERE id ${among(tx, ids)} ORDER BY id FOR UPDATE) AS locked`,
  )
}

/**
 * Marks notifications as read whose conversations are locked. By primary key.
 *
 * @returns the ids of those that were not
 */
export async function readByIds(tx: Queries, userId: string, found: Found[], now: Micros): Promise<string[]> {
  const rows = await tx.all<ReadRow>(
    sql`UPDATE notifications SET read_at = ${now}
      WHERE user_id = ${userId} AND id ${among(
        tx,
        found.map(({ id }) => id),
      )} AND read_at IS NULL AND hidden = 0
      RETURNING id, kind, hidden`,
  )
  await readDirect(
    tx,
    userId,
    rows.flatMap(({ id, kind }) => (kind === 'direct' ? id : [])),
    now,
  )
  const conversationOf = new Map(found.map(({ id, conversation_id }) => [id, conversation_id]))
  await countRead(
    tx,
    userId,
    rows.map((row) => ({ ...row, conversation_id: conversationOf.get(row.id)! })),
  )
  return rows.map(({ id }) => id)
}

/** Reads what an earlier version wrote for the threads of the conversations of these notifications: they are shown as one. */
async function readDirect(tx: Queries, userId: string, ids: readonly string[], now: Micros): Promise<void> {
  if (ids.length === 0) return
  await tx.run(
    sql`UPDATE notifications SET read_at = ${now}
      WHERE user_id = ${userId} AND read_at IS NULL AND kind = 'direct' AND ${IS_COUNTED_APART}
        AND conversation_id IN (SELECT o.conversation_id FROM notifications o
             WHERE o.user_id = ${userId} AND o.id ${among(tx, ids)})`,
  )
}

/** Subtracts them from the unread mentions of their conversations. */
async function countRead(tx: Queries, user_id: string, rows: (ReadRow & Found)[]): Promise<void> {
  const shown = rows.filter(({ hidden }) => hidden === 0)
  await addToMentions(
    tx,
    mentionGroups(shown.map(({ kind, conversation_id }) => ({ kind, conversation_id, users: [{ user_id }] }))),
    -1,
  )
}
