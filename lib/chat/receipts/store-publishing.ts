import type { Queries } from '../../storage/database.ts'
import { onRows } from '../../storage/on-rows.ts'
import { among, type Micros, sql } from '../../storage/sql.ts'
import { MARKER } from '../../storage/unread-set.ts'
import type { PolicyColumns } from '../memberships/rules-settings.ts'

/** A user's marker in a thread. */
export interface MarkerKey {
  root_id: string
  user_id: string
}

/** A user's marker of a conversation. */
export interface ConversationMarkerKey {
  conversation_id: string
  user_id: string
  scope: string
}

/** A read marker, and what decides whether others see it. */
export interface MovedMarker extends PolicyColumns {
  conversation_id: string
  root_id: string
  user_id: string
  /** 0: there is none, or it is void. */
  read_at: Micros
  /** What a marker of the whole conversation reaches; its latest thread is `root_id`. */
  scope?: 'roots' | 'all'
}

/**
 * Materialized, with a conversation's id twice: PostgreSQL looks up by both columns of a key only if they are compared with
 * those of one table. Otherwise it reads all participants of a conversation by its id, which seems as cheap where most
 * conversations have few.
 */
const MOVED = onRows<MarkerKey>(
  { root_id: 'text', user_id: 'text' },
  (given, dialect) =>
    sql`WITH moved AS ${dialect === 'sqlite' ? sql`` : sql`MATERIALIZED`} (
       SELECT t.conversation_id, t.conversation_id AS member_of, t.root_id, t.created_at, t.last_activity_at,
              r.user_id, r.read_at, r.reopened_at, r.root_unread_at
         FROM ${given} CROSS JOIN thread_members r
         JOIN threads t ON t.root_id = r.root_id
        WHERE r.root_id = given.root_id AND r.user_id = given.user_id)
     SELECT c.id AS conversation_id, c.is_direct, c.policy, t.root_id, t.user_id, ${MARKER} AS read_at
       FROM moved t
       JOIN moved r ON r.root_id = t.root_id AND r.user_id = t.user_id
       JOIN conversations c ON c.id = t.conversation_id
       JOIN participants p ON p.conversation_id = t.member_of AND p.user_id = t.user_id AND p.receipts = 1
       JOIN users u ON u.id = t.user_id AND u.receipts = 1
      WHERE CASE WHEN c.deleted_at IS NULL THEN true ELSE false END`,
)

/** The current markers of users who share receipts, among these, in no order. By primary keys. */
export function listMoved(db: Queries, keys: MarkerKey[]): Promise<MovedMarker[]> {
  return MOVED.all(db, keys)
}

const MOVED_IN = onRows<ConversationMarkerKey>(
  { conversation_id: 'text', user_id: 'text', scope: 'text' },
  (given) =>
    sql`SELECT c.id AS conversation_id, c.is_direct, c.policy, latest.id AS root_id, p.user_id, given.scope,
            CASE WHEN given.scope = 'all' THEN p.replies_read_to ELSE p.roots_read_to END AS read_at
       FROM ${given}
       JOIN conversations c ON c.id = given.conversation_id
       JOIN participants p ON p.conversation_id = given.conversation_id AND p.user_id = given.user_id AND p.receipts = 1
       JOIN users u ON u.id = given.user_id AND u.receipts = 1
       JOIN messages latest ON latest.id = (SELECT m.id FROM messages m
             WHERE m.conversation_id = given.conversation_id AND m.parent_id IS NULL
             ORDER BY m.created_at DESC LIMIT 1)
      WHERE CASE WHEN c.deleted_at IS NULL THEN true ELSE false END`,
)

/** As {@link listMoved}, the markers of whole conversations, each with the latest root. By primary keys and `roots_by_arrival`. */
export function listMovedIn(db: Queries, keys: ConversationMarkerKey[]): Promise<MovedMarker[]> {
  return MOVED_IN.all(db, keys)
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
