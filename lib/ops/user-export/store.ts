import type { Queries } from '../../storage/database.ts'
import { isOneOf, jsonList, type Micros } from '../../storage/sql.ts'

/** The rows of one step. */
const PAGE = 500

type Row = Record<string, unknown>

/** Rows of a table that belong to a user: what is taken of them, and the key by which they are read in pages. */
export interface OwnRows {
  table: string
  columns: string
  /** The condition with one parameter, the id of the user. */
  of: string
  key: readonly string[]
}

/** All of these rows, a page at a time. */
export async function* listOwnRows(db: Queries, rows: OwnRows, userId: string): AsyncGenerator<Row[]> {
  const { table, columns, of, key } = rows
  const keys = key.map((name, n) => `${name} AS page_key_${n}`).join(', ')
  for (let after: string[] | undefined; ; ) {
    const more = after ? `AND (${key.join(', ')}) > (${key.map(() => '?').join(', ')})` : ''
    const page = await db.all<Row>(
      `SELECT ${columns}, ${keys} FROM ${table} WHERE ${of} ${more} ORDER BY ${key.join(', ')} LIMIT ${PAGE}`,
      userId,
      ...(after ?? []),
    )
    after = key.map((_, n) => String(page.at(-1)?.[`page_key_${n}`]))
    if (page.length > 0) yield page.map(withoutKeys)
    if (page.length < PAGE) return
  }
}

function withoutKeys(row: Row): Row {
  return Object.fromEntries(Object.entries(row).filter(([name]) => !name.startsWith('page_key_')))
}

/** A message that a user has written; of what it answers the author and the time only. */
export interface OwnMessage {
  id: string
  conversation_id: string
  root_id: string
  content: string
  metadata: string | null
  created_at: Micros
  edited_at: Micros | null
  answered_at: Micros | null
  answered_role: string | null
  answered_username: string | null
}

/**
 * The messages of a user that are not deleted, in windows of the messages of all, by primary key: there is no index by
 * author, and a window bounds what a statement reads. @param onWindow called with the number of checked messages
 */
export async function* listOwnMessages(
  db: Queries,
  userId: string,
  onWindow: (messages: number) => void = () => {},
): AsyncGenerator<OwnMessage[]> {
  for (let after = ''; ; ) {
    const window = (await db.get<{ last: string | null; messages: number }>(
      `SELECT max(id) AS last, count(*) AS messages
         FROM (SELECT id FROM messages WHERE id > ? ORDER BY id LIMIT ${PAGE}) page`,
      after,
    ))!
    if (window.last === null) return
    const page = await db.all<OwnMessage>(
      `SELECT m.id, m.conversation_id, m.root_id, m.content, m.metadata, m.created_at, m.edited_at,
              p.created_at AS answered_at, p.role AS answered_role, u.username AS answered_username
         FROM messages m
         JOIN conversations c ON c.id = m.conversation_id AND c.deleted_at IS NULL
         LEFT JOIN messages p ON p.id = m.parent_id
         LEFT JOIN users u ON u.id = p.posted_by AND p.role <> 'assistant'
        WHERE m.id > ? AND m.id <= ? AND m.posted_by = ? AND m.role <> 'assistant' AND m.deleted_at IS NULL
        ORDER BY m.id`,
      after,
      window.last,
      userId,
    )
    onWindow(Number(window.messages))
    if (page.length > 0) yield page
    after = window.last
  }
}

/** Earlier texts of these messages, oldest first. By primary key. */
export function listEarlierTexts(
  db: Queries,
  ids: string[],
): Promise<{ message_id: string; replaced_at: Micros; content: string }[]> {
  return db.all(
    `SELECT message_id, replaced_at, content FROM message_revisions
      WHERE message_id ${isOneOf(db.dialect)} ORDER BY message_id, replaced_at`,
    jsonList(ids),
  )
}

/** A file that a user has uploaded, and that no deleted message has. */
export interface OwnFile {
  id: string
  conversation_id: string
  message_id: string | null
  name: string
  sniffed: string | null
  size: number
  created_at: Micros
  blob_id: string | null
  parts: number | null
}

/** By (uploaded_by). */
export async function* listOwnFiles(db: Queries, userId: string): AsyncGenerator<OwnFile[]> {
  for (let after = ''; ; ) {
    const page = await db.all<OwnFile>(
      `SELECT a.id, a.conversation_id, a.message_id, a.name, a.sniffed, a.size, a.created_at, a.blob_id, b.parts
         FROM attachments a
         JOIN conversations c ON c.id = a.conversation_id AND c.deleted_at IS NULL
         LEFT JOIN messages m ON m.id = a.message_id
         LEFT JOIN blobs b ON b.id = a.blob_id
        WHERE a.uploaded_by = ? AND a.id > ? AND a.status = 'ready' AND m.deleted_at IS NULL
        ORDER BY a.id LIMIT ${PAGE}`,
      userId,
      after,
    )
    if (page.length > 0) yield page
    if (page.length < PAGE) return
    after = page.at(-1)!.id
  }
}
