import { toInstant } from '../ids.ts'
import type { Queries } from '../storage/database.ts'
import { jsonList, listOf, type Micros } from '../storage/sql.ts'
import type { Message, Revision } from './schema.ts'

/** A message as it is stored: instants in microseconds, absent values as `null`. */
export interface MessageRow {
  id: string
  conversation_id: string
  root_id: string
  parent_id: string | null
  /** The author, or who asked for it. */
  posted_by: string | null
  role: Message['role']
  content: string
  path: string
  depth: number
  status: Message['status']
  created_at: Micros
  edited_at: Micros | null
  deleted_at: Micros | null
  deleted_by: string | null
}

const COLUMNS = `id, conversation_id, root_id, parent_id, posted_by, role, content, path, depth, status,
  created_at, edited_at, deleted_at, deleted_by`

/** A row as everybody reads it. The text of a deleted message stays behind. */
export function toMessage(row: MessageRow): Message {
  // Assigned one by one, not spread: every event of a busy conversation comes through here.
  const message: Message = {
    id: row.id,
    conversation_id: row.conversation_id,
    root_id: row.root_id,
    role: row.role,
    content: row.deleted_at ? '' : row.content,
    path: row.path,
    depth: row.depth,
    status: row.status,
    created_at: toInstant(row.created_at),
  }
  if (row.parent_id) message.parent_id = row.parent_id
  if (row.posted_by && row.role === 'user') message.author_user_id = row.posted_by
  if (row.edited_at) message.edited_at = toInstant(row.edited_at)
  if (row.deleted_at) message.deleted_at = toInstant(row.deleted_at)
  return message
}

/** The message, whoever asks: scope it with the conversation it names. By primary key. */
export function findMessage(db: Queries, id: string): Promise<MessageRow | undefined> {
  return db.get<MessageRow>(`SELECT ${COLUMNS} FROM messages WHERE id = ?`, id)
}

/** Those messages, in no order. By primary key. */
export function listMessages(db: Queries, ids: Iterable<string>): Promise<MessageRow[]> {
  return db.all<MessageRow>(`SELECT ${COLUMNS} FROM messages WHERE id IN ${listOf(db.dialect)}`, jsonList(ids))
}

/** Up to `limit` messages of the thread, depth first, starting just after `cursorPath`. By (root_id, path). */
export function listTree(db: Queries, rootId: string, cursorPath: string, limit: number): Promise<MessageRow[]> {
  return db.all<MessageRow>(
    `SELECT ${COLUMNS} FROM messages
      WHERE root_id = ? AND path > ?
      ORDER BY path
      LIMIT ?`,
    rootId,
    cursorPath,
    limit,
  )
}

/** Takes the next place for a reply, `ordinal` from 0, which nobody else gets; with what the parent is at that moment. */
export async function takeReplyPlace(tx: Queries, parentId: string) {
  const row = await tx.get<Pick<MessageRow, 'root_id' | 'path' | 'depth' | 'deleted_at'> & { ordinal: number }>(
    `UPDATE messages SET reply_count = reply_count + 1 WHERE id = ?
     RETURNING root_id, path, depth, deleted_at, reply_count - 1 AS ordinal`,
    parentId,
  )
  return row!
}

export async function insertMessage(tx: Queries, row: MessageRow): Promise<void> {
  await tx.run(
    `INSERT INTO messages (id, conversation_id, root_id, parent_id, posted_by, role, content, path, depth, status, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    row.id,
    row.conversation_id,
    row.root_id,
    row.parent_id,
    row.posted_by,
    row.role,
    row.content,
    row.path,
    row.depth,
    row.status,
    row.created_at,
  )
}

/** Gives a message another text and keeps the one it had. */
export async function replaceContent(
  tx: Queries,
  id: string,
  { content, reason, at }: { content: string; reason: string | null; at: Micros },
): Promise<void> {
  await tx.run(
    `INSERT INTO message_revisions (message_id, replaced_at, content, reason)
     SELECT id, CAST(? AS BIGINT), content, CAST(? AS TEXT) FROM messages WHERE id = ?`,
    at,
    reason,
    id,
  )
  await tx.run('UPDATE messages SET content = ?, edited_at = ? WHERE id = ?', content, at, id)
}

export async function markDeleted(tx: Queries, id: string, at: Micros, by: string): Promise<void> {
  await tx.run('UPDATE messages SET deleted_at = ?, deleted_by = ? WHERE id = ?', at, by, id)
}

export async function markRestored(tx: Queries, id: string): Promise<void> {
  await tx.run('UPDATE messages SET deleted_at = NULL, deleted_by = NULL WHERE id = ?', id)
}

/** What the message said before, oldest first. */
export async function listRevisions(db: Queries, id: string): Promise<Revision[]> {
  const rows = await db.all<{ content: string; replaced_at: Micros; reason: string | null }>(
    'SELECT content, replaced_at, reason FROM message_revisions WHERE message_id = ? ORDER BY replaced_at',
    id,
  )
  return rows.map(({ content, replaced_at, reason }) => ({
    content,
    replaced_at: toInstant(replaced_at),
    ...(reason !== null && { reason }),
  }))
}
