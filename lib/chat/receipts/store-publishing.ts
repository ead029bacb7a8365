import type { Queries } from '../../storage/database.ts'
import { onRows } from '../../storage/on-rows.ts'
import { among, type Micros, sql } from '../../storage/sql.ts'
import type { PolicyColumns } from '../memberships/rules-settings.ts'

/** A read marker, and what decides whether others see it. */
export interface MovedMarker extends PolicyColumns {
  conversation_id: string
  root_id: string
  user_id: string
  /** 0: there is none, or it is void. */
  read_at: Micros
}

/**
 * Materialized, with a conversation's id twice: PostgreSQL looks up by both columns of a key only if they are compared with
 * those of one table. Otherwise it reads all participants of a conversation by its id, which seems as cheap where most
 * conversations have few.
 */
const MOVED = onRows<{ root_id: string; user_id: string }>(
  { root_id: 'text', user_id: 'text' },
  (given, dialect) =>
    sql`WITH moved AS ${dialect === 'sqlite' ? sql`` : sql`MATERIALIZED`} (
       SELECT t.conversation_id, t.conversation_id AS member_of, r.root_id, r.user_id, r.read_at
         FROM ${given} CROSS JOIN thread_members r
         JOIN threads t ON t.root_id = r.root_id
        WHERE r.root_id = given.root_id AND r.user_id = given.user_id)
     SELECT c.id AS conversation_id, c.is_direct, c.policy, r.root_id, r.user_id,
            CASE WHEN r.read_at >= p.joined_at THEN r.read_at ELSE 0 END AS read_at
       FROM moved r
       JOIN conversations c ON c.id = r.conversation_id
       JOIN participants p ON p.conversation_id = r.member_of AND p.user_id = r.user_id AND p.receipts = 1
       JOIN users u ON u.id = r.user_id AND u.receipts = 1
      WHERE CASE WHEN c.deleted_at IS NULL THEN true ELSE false END`,
)

/** The current markers of users who share receipts, among these, in no order. By primary keys. */
export function listMoved(db: Queries, keys: { root_id: string; user_id: string }[]): Promise<MovedMarker[]> {
  return MOVED.all(db, keys)
}

/** The participants of these conversations who do not share receipts. By primary keys. */
export function listUnshared(
  db: Queries,
  conversationIds: Iterable<string>,
): Promise<{ conversation_id: string; user_id: string }[]> {
  return db.all(
    sql`SELECT p.conversation_id, p.user_id FROM participants p JOIN users u ON u.id = p.user_id
      WHERE p.conversation_id ${among(db, conversationIds)} AND (p.receipts = 0 OR u.receipts = 0)`,
  )
}
