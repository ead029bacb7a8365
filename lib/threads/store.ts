import { toInstant } from '../ids.ts'
import type { Queries } from '../storage/database.ts'
import { jsonList, listOf, type Micros } from '../storage/sql.ts'
import type { ThreadSummary } from './schema.ts'

/** A thread's row with what its root shows. */
export interface ThreadRow {
  root_id: string
  conversation_id: string
  created_at: Micros
  last_activity_at: Micros
  message_count: number
  participant_count: number
  root_excerpt: string
  root_author: string | null
}

const EXCERPT_LENGTH = 140

// Cut in the database, so that a list of threads does not load their texts.
const SUMMARY = `SELECT t.root_id, t.conversation_id, t.created_at, t.last_activity_at, t.message_count, t.participant_count,
    CASE WHEN m.deleted_at IS NULL THEN substr(m.content, 1, ${EXCERPT_LENGTH}) ELSE '' END AS root_excerpt,
    m.author_user_id AS root_author
  FROM threads t JOIN messages m ON m.id = t.root_id`

/** A row as events and lists show it. */
export function toSummary(row: ThreadRow): ThreadSummary {
  return {
    root_id: row.root_id,
    root_excerpt: row.root_excerpt,
    ...(row.root_author && { root_author: row.root_author }),
    created_at: toInstant(row.created_at),
    last_activity_at: toInstant(row.last_activity_at),
    message_count: row.message_count,
    participant_count: row.participant_count,
  }
}

/** Those threads, in no order. By primary key. */
export function listSummaries(db: Queries, rootIds: Iterable<string>): Promise<ThreadRow[]> {
  return db.all<ThreadRow>(`${SUMMARY} WHERE t.root_id IN ${listOf(db.dialect)}`, jsonList(rootIds))
}

/** Up to `limit` threads of a conversation, latest activity first. By (conversation_id, last_activity_at). */
export function listThreads(db: Queries, conversationId: string, before: Micros, limit: number): Promise<ThreadRow[]> {
  return db.all<ThreadRow>(
    `${SUMMARY}
      WHERE t.conversation_id = ? AND t.last_activity_at < ?
      ORDER BY t.last_activity_at DESC
      LIMIT ?`,
    conversationId,
    before,
    limit,
  )
}

/** How many messages of others reached each of these threads after `since`. By (root_id, created_at). */
export async function countUnread(
  db: Queries,
  userId: string,
  since: Micros,
  rootIds: string[],
): Promise<Map<string, number>> {
  const rows = await db.all<{ root_id: string; unread: number }>(
    `SELECT root_id, count(*) AS unread FROM messages
      WHERE root_id IN ${listOf(db.dialect)} AND created_at > ? AND deleted_at IS NULL
        AND coalesce(author_user_id, '') <> ?
      GROUP BY root_id`,
    jsonList(rootIds),
    since,
    userId,
  )
  return new Map(rows.map((row) => [row.root_id, row.unread]))
}

/** Which conversation a thread is in, whoever asks. */
export async function findThreadConversation(db: Queries, rootId: string): Promise<string | undefined> {
  const row = await db.get<{ conversation_id: string }>('SELECT conversation_id FROM threads WHERE root_id = ?', rootId)
  return row?.conversation_id
}

export async function insertThread(
  tx: Queries,
  thread: { root_id: string; conversation_id: string; at: Micros; author: string },
): Promise<void> {
  await tx.run(
    `INSERT INTO threads (root_id, conversation_id, created_at, last_activity_at, message_count, participant_count)
     VALUES (?, ?, ?, ?, 1, 1)`,
    thread.root_id,
    thread.conversation_id,
    thread.at,
    thread.at,
  )
  await tx.run('INSERT INTO thread_authors (root_id, user_id) VALUES (?, ?)', thread.root_id, thread.author)
}

/** Counts a reply in. */
export async function touchThread(tx: Queries, rootId: string, author: string, at: Micros): Promise<void> {
  const joined = await tx.run(
    'INSERT INTO thread_authors (root_id, user_id) VALUES (?, ?) ON CONFLICT DO NOTHING',
    rootId,
    author,
  )
  await tx.run(
    `UPDATE threads SET last_activity_at = ?, message_count = message_count + 1, participant_count = participant_count + ?
      WHERE root_id = ?`,
    at,
    joined,
    rootId,
  )
}
