import type { Queries } from '../../storage/database.ts'
import { join, type Micros, type Sql, sql } from '../../storage/sql.ts'
import type { List } from './rules.ts'
import type { View } from './schema.ts'

/** A message of a list, and its arrival. */
export interface Arrival {
  id: string
  at: Micros
}

/** The indexes that a list is merged from, each in the order of arrival. */
const PARTS: Record<View, (id: string) => Sql[]> = {
  roots: (id) => [sql`conversation_id = ${id} AND parent_id IS NULL`],
  all: (id) => [
    sql`conversation_id = ${id} AND parent_id IS NULL`,
    sql`conversation_id = ${id} AND parent_id IS NOT NULL`,
  ],
  thread: (id) => [sql`root_id = ${id} AND deleted_at IS NULL`, sql`root_id = ${id} AND deleted_at IS NOT NULL`],
}

/** Up to `limit` messages of a list that arrived before `at`, latest first. By the indexes by arrival. */
export function listOlder(db: Queries, { view, id, from }: List, at: Micros, limit: number): Promise<Arrival[]> {
  return merge(
    db,
    PARTS[view](id).map((part) => sql`${part} AND created_at > ${from} AND created_at < ${at}`),
    sql`ORDER BY created_at DESC LIMIT ${limit}`,
  )
}

/** Up to `limit` messages of a list that arrived after `at`, earliest first. By the indexes by arrival. */
export function listNewer(db: Queries, { view, id, from }: List, at: Micros, limit: number): Promise<Arrival[]> {
  return merge(
    db,
    PARTS[view](id).map((part) => sql`${part} AND created_at > ${Math.max(from, at)}`),
    sql`ORDER BY created_at LIMIT ${limit}`,
  )
}

function merge(db: Queries, parts: Sql[], inOrder: Sql): Promise<Arrival[]> {
  const ranges = parts.map(
    (part) => sql`SELECT * FROM (SELECT id, created_at FROM messages WHERE ${part} ${inOrder}) AS part`,
  )
  return db.all<Arrival>(sql`SELECT id, created_at AS at FROM (${join(ranges, ' UNION ALL ')}) AS page ${inOrder}`)
}

/** The place of a message: its conversation, and its arrival and that of its root. By primary keys. */
export function findPlace(
  db: Queries,
  id: string,
): Promise<{ conversation_id: string; root_id: string; at: Micros; root_at: Micros } | undefined> {
  return db.get(
    sql`SELECT m.conversation_id, m.root_id, m.created_at AS at, t.created_at AS root_at
          FROM messages m JOIN threads t ON t.root_id = m.root_id WHERE m.id = ${id}`,
  )
}

/** The conversation of a thread, and its beginning. By primary key. */
export function findThread(db: Queries, rootId: string): Promise<{ conversation_id: string; at: Micros } | undefined> {
  return db.get(sql`SELECT conversation_id, created_at AS at FROM threads WHERE root_id = ${rootId}`)
}
