import type { Queries } from '../../storage/database.ts'
import { HAS_OWN_PHOTO } from '../../storage/own-photos.ts'
import { among, join, literal, type Micros, name, rootTitle, type Sql, sql } from '../../storage/sql.ts'

/** The rows of one step. */
const PAGE = 500

type Row = Record<string, unknown>

/** Rows of a table that belong to a user: what is taken of them, and the key by which they are read in pages. */
export interface OwnRows {
  table: string
  columns: Sql
  /** The condition on a row that it belongs to the user with an id. */
  of: (userId: string) => Sql
  key: readonly string[]
}

/** All of these rows, a page at a time. */
export async function* listOwnRows(db: Queries, rows: OwnRows, userId: string): AsyncGenerator<Row[]> {
  const { table, columns, of, key } = rows
  const keys = join(key.map(name), ', ')
  const pageKeys = key.map((column, n) => sql`${name(column)} AS ${name(`page_key_${n}`)}`)
  for (let after: string[] | undefined; ; ) {
    const more = after
      ? sql`AND (${keys}) > (${join(
          after.map((value) => sql`${value}`),
          ', ',
        )})`
      : sql``
    const page = await db.all<Row>(
      sql`SELECT ${join([columns, ...pageKeys], ', ')} FROM ${name(table)} WHERE ${of(userId)} ${more} ORDER BY ${keys}
            LIMIT ${literal(PAGE)}`,
    )
    after = key.map((_, n) => String(page.at(-1)?.[`page_key_${n}`]))
    if (page.length > 0) yield page.map(withoutKeys)
    if (page.length < PAGE) return
  }
}

function withoutKeys(row: Row): Row {
  return Object.fromEntries(Object.entries(row).filter(([column]) => !column.startsWith('page_key_')))
}

/** A message that a user has written; of what it answers and quotes the author and the time only. */
export interface OwnMessage {
  id: string
  conversation_id: string
  root_id: string
  /** The title of the thread that it begins. */
  title: string | null
  content: string
  metadata: string | null
  created_at: Micros
  edited_at: Micros | null
  /** 1 if the user has marked it as generated text. */
  generated: number | null
  answered_at: Micros | null
  answered_role: string | null
  answered_username: string | null
  quoted_at: Micros | null
  quoted_role: string | null
  quoted_username: string | null
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
      sql`SELECT max(id) AS last, count(*) AS messages
         FROM (SELECT id FROM messages WHERE id > ${after} ORDER BY id LIMIT ${literal(PAGE)}) page`,
    ))!
    if (window.last === null) return
    const page = await db.all<OwnMessage>(
      sql`SELECT m.id, m.conversation_id, m.root_id, ${rootTitle(sql`m`)} AS title, m.content, m.metadata,
              m.created_at, m.edited_at, m.generated,
              p.created_at AS answered_at, p.role AS answered_role, u.username AS answered_username,
              q.created_at AS quoted_at, q.role AS quoted_role, w.username AS quoted_username
         FROM messages m
         JOIN conversations c ON c.id = m.conversation_id AND c.deleted_at IS NULL
         LEFT JOIN messages p ON p.id = m.parent_id
         LEFT JOIN users u ON u.id = p.posted_by AND p.role <> 'assistant'
         LEFT JOIN messages q ON q.id = m.quote_id AND q.conversation_id = m.conversation_id
         LEFT JOIN users w ON w.id = q.posted_by AND q.role <> 'assistant'
        WHERE m.id > ${after} AND m.id <= ${window.last} AND m.posted_by = ${userId} AND m.role <> 'assistant'
            AND m.deleted_at IS NULL
        ORDER BY m.id`,
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
    sql`SELECT message_id, replaced_at, content FROM message_revisions
      WHERE message_id ${among(db, ids)} ORDER BY message_id, replaced_at`,
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

/** The photo that a user has set. By primary keys. */
export function findOwnPhoto(
  db: Queries,
  userId: string,
): Promise<Pick<OwnFile, 'blob_id' | 'parts' | 'sniffed'> | undefined> {
  return db.get(
    sql`SELECT b.id AS blob_id, b.parts, u.avatar_type AS sniffed
       FROM users u JOIN blobs b ON b.id = substr(u.avatar_url, 14) WHERE u.id = ${userId} AND ${HAS_OWN_PHOTO}`,
  )
}

/** By (uploaded_by). */
export async function* listOwnFiles(db: Queries, userId: string): AsyncGenerator<OwnFile[]> {
  for (let after = ''; ; ) {
    const page = await db.all<OwnFile>(
      sql`SELECT a.id, a.conversation_id, a.message_id, a.name, a.sniffed, a.size, a.created_at, a.blob_id, b.parts
         FROM attachments a
         JOIN conversations c ON c.id = a.conversation_id AND c.deleted_at IS NULL
         LEFT JOIN messages m ON m.id = a.message_id
         LEFT JOIN blobs b ON b.id = a.blob_id
        WHERE a.uploaded_by = ${userId} AND a.id > ${after} AND a.status = 'ready' AND m.deleted_at IS NULL
        ORDER BY a.id LIMIT ${literal(PAGE)}`,
    )
    if (page.length > 0) yield page
    if (page.length < PAGE) return
    after = page.at(-1)!.id
  }
}
