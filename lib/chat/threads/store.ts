import { MAX_EXCERPT_LENGTH, toRootSummary } from '../../core/excerpt.ts'
import { toReplierIds } from '../../core/repliers.ts'
import { toInstant } from '../../core/time.ts'
import type { Queries } from '../../storage/database.ts'
import { LAST_REPLIERS, LAST_REPLY_AT } from '../../storage/reply-state.ts'
import { among, literal, type Micros, SOME_ERASED, type Sql, sql } from '../../storage/sql.ts'
import type { ThreadSummary } from './schema.ts'

/** A thread's row with the excerpt of its root. */
export interface ThreadRow {
  root_id: string
  conversation_id: string
  created_at: Micros
  last_activity_at: Micros
  message_count: number
  participant_count: number
  title: string | null
  root_excerpt: string
  /** The list of files of the root, as JSON. */
  root_files: string | null
  root_author: string | null
  last_repliers: string
  last_reply_at: Micros | null
}

/**
 * What a thread's members who were erased with their messages contribute, as long as the messages are being removed.
 */
function ofErased(sum: Sql): Sql {
  return sql`CASE WHEN ${SOME_ERASED} THEN (SELECT coalesce(${sum}, 0)
      FROM erased_authors e JOIN thread_members r ON r.root_id = t.root_id AND r.user_id = e.user_id
     WHERE e.messages = 'erase') ELSE 0 END`
}

/** Whether the text of the root can be read: it is neither deleted nor being erased with its author. */
const HAS_ROOT = sql`m.deleted_at IS NULL AND coalesce(gone.messages, 'keep') = 'keep'`

// Cut in the database, so that a list of threads does not load their texts.
const SUMMARY = sql`SELECT t.root_id, t.conversation_id, t.created_at, t.last_activity_at,
    t.message_count - ${ofErased(sql`sum(r.live_count)`)} AS message_count,
    t.participant_count - ${ofErased(sql`sum(CASE WHEN r.live_count > 0 THEN 1 ELSE 0 END)`)} AS participant_count,
    CASE WHEN ${HAS_ROOT} THEN t.title END AS title,
    CASE WHEN ${HAS_ROOT} THEN substr(coalesce(m.prompt, m.content), 1, ${literal(MAX_EXCERPT_LENGTH)})
         ELSE '' END AS root_excerpt,
    CASE WHEN ${HAS_ROOT} THEN m.attachment_list END AS root_files,
    CASE WHEN m.role <> 'assistant' AND gone.user_id IS NULL THEN m.posted_by END AS root_author,
    ${LAST_REPLIERS} AS last_repliers,
    ${LAST_REPLY_AT} AS last_reply_at
  FROM threads t JOIN messages m ON m.id = t.root_id LEFT JOIN erased_authors gone ON gone.user_id = m.posted_by`

/** A row as events and lists return it. */
export function toSummary(row: ThreadRow): ThreadSummary {
  return {
    root_id: row.root_id,
    conversation_id: row.conversation_id,
    ...(row.title && { title: row.title }),
    ...toRootSummary(row.root_excerpt, row.root_files),
    ...(row.root_author && { root_author: row.root_author }),
    created_at: toInstant(row.created_at),
    last_activity_at: toInstant(row.last_activity_at),
    ...(row.last_reply_at !== null && { last_reply_at: toInstant(row.last_reply_at) }),
    message_count: row.message_count,
    participant_count: row.participant_count,
    last_replier_ids: toReplierIds(row.last_repliers),
  }
}

/** The threads with these ids, in no order. By primary key. */
export function listSummaries(db: Queries, rootIds: Iterable<string>): Promise<ThreadRow[]> {
  return db.all<ThreadRow>(sql`${SUMMARY} WHERE t.root_id ${among(db, rootIds)}`)
}

/** Up to `limit` threads of a conversation, latest activity first. By (conversation_id, last_activity_at). */
export function listThreads(db: Queries, conversationId: string, before: Micros, limit: number): Promise<ThreadRow[]> {
  return db.all<ThreadRow>(
    sql`${SUMMARY}
      WHERE t.conversation_id = ${conversationId} AND t.last_activity_at < ${before}
      ORDER BY t.last_activity_at DESC
      LIMIT ${limit}`,
  )
}

/** The arrival of the message at a path, or with an id, or of the latest message of a thread. */
export async function findArrival(
  db: Queries,
  rootId: string,
  { path, message_id }: { path?: string | undefined; message_id?: string | undefined },
): Promise<Micros | undefined> {
  const row =
    message_id !== undefined
      ? await db.get<{ at: Micros }>(
          sql`SELECT created_at AS at FROM messages WHERE id = ${message_id} AND root_id = ${rootId}`,
        )
      : path !== undefined
        ? await db.get<{ at: Micros }>(
            sql`SELECT created_at AS at FROM messages WHERE root_id = ${rootId} AND path = ${path}`,
          )
        : await db.get<{ at: Micros }>(sql`SELECT last_activity_at AS at FROM threads WHERE root_id = ${rootId}`)
  return row?.at
}

/** The conversation of a thread, and its title while its root can be read, without a check of rights. By primary keys. */
export function findThread(
  db: Queries,
  rootId: string,
): Promise<{ conversation_id: string; title: string | null } | undefined> {
  return db.get(
    sql`SELECT t.conversation_id, CASE WHEN ${HAS_ROOT} THEN t.title END AS title
       FROM threads t JOIN messages m ON m.id = t.root_id LEFT JOIN erased_authors gone ON gone.user_id = m.posted_by
      WHERE t.root_id = ${rootId}`,
  )
}

/** The conversations and titles of threads, in no order, as {@link findThread}. By primary keys. */
export function listThreadTitles(
  db: Queries,
  rootIds: Iterable<string>,
): Promise<{ root_id: string; title: string | null }[]> {
  return db.all(
    sql`SELECT t.root_id, CASE WHEN ${HAS_ROOT} THEN t.title END AS title
       FROM threads t JOIN messages m ON m.id = t.root_id LEFT JOIN erased_authors gone ON gone.user_id = m.posted_by
      WHERE t.root_id ${among(db, rootIds)}`,
  )
}

/** Changes the title of a thread; `null` is none. By primary key. @returns whether it had another one */
export async function setTitle(tx: Queries, rootId: string, title: string | null): Promise<boolean> {
  const changed = await tx.run(
    sql`UPDATE threads SET title = ${title} WHERE root_id = ${rootId} AND coalesce(title, '') <> ${title ?? ''}`,
  )
  return changed === 1
}

/** The conversation of a thread, without a check of rights. */
export async function findThreadConversation(db: Queries, rootId: string): Promise<string | undefined> {
  const row = await db.get<{ conversation_id: string }>(sql`SELECT conversation_id FROM threads
         WHERE root_id = ${rootId}`)
  return row?.conversation_id
}
