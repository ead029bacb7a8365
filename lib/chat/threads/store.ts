import { toInstant } from '../../core/time.ts'
import type { Queries } from '../../storage/database.ts'
import { jsonList, listOf, type Micros, SOME_ERASED } from '../../storage/sql.ts'
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

/** Counts for what has no author any more. */
const NOBODY = ''

/** Something of a thread's members who were erased with their messages, as long as the messages are being removed. */
function ofErased(sum: string): string {
  return `CASE WHEN ${SOME_ERASED} THEN (SELECT coalesce(${sum}, 0)
      FROM erased_authors e JOIN thread_members r ON r.root_id = t.root_id AND r.user_id = e.user_id
     WHERE e.messages = 'erase') ELSE 0 END`
}

// Cut in the database, so that a list of threads does not load their texts.
const SUMMARY = `SELECT t.root_id, t.conversation_id, t.created_at, t.last_activity_at,
    t.message_count - ${ofErased('sum(r.live_count)')} AS message_count,
    t.participant_count - ${ofErased('sum(CASE WHEN r.live_count > 0 THEN 1 ELSE 0 END)')} AS participant_count,
    CASE WHEN m.deleted_at IS NULL AND coalesce(gone.messages, 'keep') = 'keep' THEN substr(coalesce(m.prompt, m.content), 1, ${EXCERPT_LENGTH}) ELSE '' END AS root_excerpt,
    CASE WHEN m.role = 'user' AND gone.user_id IS NULL THEN m.posted_by END AS root_author
  FROM threads t JOIN messages m ON m.id = t.root_id LEFT JOIN erased_authors gone ON gone.user_id = m.posted_by`

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

/** When the message at a path, or with an id, arrived in a thread, or its latest one. */
export async function findArrival(
  db: Queries,
  rootId: string,
  { path, message_id }: { path?: string | undefined; message_id?: string | undefined },
): Promise<Micros | undefined> {
  const row =
    message_id !== undefined
      ? await db.get<{ at: Micros }>(
          'SELECT created_at AS at FROM messages WHERE id = ? AND root_id = ?',
          message_id,
          rootId,
        )
      : path !== undefined
        ? await db.get<{ at: Micros }>(
            'SELECT created_at AS at FROM messages WHERE root_id = ? AND path = ?',
            rootId,
            path,
          )
        : await db.get<{ at: Micros }>('SELECT last_activity_at AS at FROM threads WHERE root_id = ?', rootId)
  return row?.at
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
  await tx.run(
    'INSERT INTO thread_members (root_id, user_id, live_count) VALUES (?, ?, 1)',
    thread.root_id,
    thread.author,
  )
}

/** Counts a reply in, and has the thread be active at `at`. */
export async function countReply(tx: Queries, rootId: string, author: string, at: Micros): Promise<void> {
  const { live_count } = await addLive(tx, rootId, author, 1)
  await tx.run(
    `UPDATE threads SET last_activity_at = ?, message_count = message_count + 1, participant_count = participant_count + ?
      WHERE root_id = ?`,
    at,
    live_count === 1 ? 1 : 0,
    rootId,
  )
}

/**
 * Counts a message out when it is deleted, or in again when it is restored: in the thread, for its author, and for
 * everybody else whose mark is past it.
 *
 * @param by -1 or 1
 */
export async function recount(
  tx: Queries,
  message: { root_id: string; posted_by: string | null; created_at: Micros },
  by: -1 | 1,
): Promise<void> {
  const author = message.posted_by ?? NOBODY
  const { live_count } = await addLive(tx, message.root_id, author, by)
  const wrote = live_count - by > 0
  const writes = live_count > 0
  await tx.run(
    'UPDATE threads SET message_count = message_count + ?, participant_count = participant_count + ? WHERE root_id = ?',
    by,
    Number(writes) - Number(wrote),
    message.root_id,
  )
  await tx.run(
    'UPDATE thread_members SET read_count = read_count + ? WHERE root_id = ? AND read_at >= ? AND user_id <> ?',
    by,
    message.root_id,
    message.created_at,
    author,
  )
}

/**
 * Counts messages of one author out that are erased together: in the thread, for the author, and for everybody else
 * whose mark is past some of them.
 *
 * @param arrivals when the messages arrived, those that were not deleted before
 */
export async function countOut(tx: Queries, rootId: string, author: string, arrivals: Micros[]): Promise<void> {
  const { live_count } = await addLive(tx, rootId, author, -arrivals.length)
  await tx.run(
    'UPDATE threads SET message_count = message_count - ?, participant_count = participant_count - ? WHERE root_id = ?',
    arrivals.length,
    live_count === 0 ? 1 : 0,
    rootId,
  )
  const upToMark =
    tx.dialect === 'sqlite'
      ? '(SELECT count(*) FROM json_each(?) WHERE value <= thread_members.read_at)'
      : '(SELECT count(*) FROM jsonb_array_elements_text(?::jsonb) AS list(value) WHERE value::bigint <= thread_members.read_at)'
  await tx.run(
    `UPDATE thread_members SET read_count = read_count - CASE WHEN read_at >= ? THEN ? ELSE ${upToMark} END
      WHERE root_id = ? AND read_at >= ? AND user_id <> ?`,
    arrivals.reduce((latest, at) => Math.max(latest, at)),
    arrivals.length,
    JSON.stringify(arrivals),
    rootId,
    arrivals.reduce((earliest, at) => Math.min(earliest, at)),
    author,
  )
}

/** Has messages that count for their author count for nobody in particular. */
export async function reassignLive(tx: Queries, rootId: string, author: string, count: number): Promise<void> {
  const from = await addLive(tx, rootId, author, -count)
  const to = await addLive(tx, rootId, NOBODY, count)
  const gone = from.live_count === 0 ? -1 : 0
  const come = to.live_count === count ? 1 : 0
  await tx.run('UPDATE threads SET participant_count = participant_count + ? WHERE root_id = ?', gone + come, rootId)
}

/** Forgets that a user has read in a thread, or written in it: by then nothing there is theirs. */
export async function forgetMember(tx: Queries, rootId: string, userId: string): Promise<void> {
  await tx.run('DELETE FROM thread_members WHERE root_id = ? AND user_id = ?', rootId, userId)
}

/**
 * Of the next `limit` threads after one, by id, those a user has written or read in. By primary keys.
 *
 * @returns with `last`, where to go on, when there may be more
 */
export async function listTraces(
  db: Queries,
  userId: string,
  afterRootId: string,
  limit: number,
): Promise<{ traces: { root_id: string; conversation_id: string }[]; last?: string }> {
  const rows = await db.all<{ root_id: string; conversation_id: string; user_id: string | null }>(
    `SELECT t.root_id, t.conversation_id, r.user_id
       FROM (SELECT root_id, conversation_id FROM threads WHERE root_id > ? ORDER BY root_id LIMIT ?) t
       LEFT JOIN thread_members r ON r.root_id = t.root_id AND r.user_id = ?
      ORDER BY t.root_id`,
    afterRootId,
    limit,
    userId,
  )
  const traces = rows.flatMap(({ root_id, conversation_id, user_id }) => (user_id ? { root_id, conversation_id } : []))
  return { traces, ...(rows.length === limit && { last: rows.at(-1)!.root_id }) }
}

async function addLive(tx: Queries, rootId: string, author: string, by: number): Promise<{ live_count: number }> {
  const row = await tx.get<{ live_count: number }>(
    `INSERT INTO thread_members (root_id, user_id, live_count) VALUES (?, ?, ?)
     ON CONFLICT (root_id, user_id) DO UPDATE SET live_count = thread_members.live_count + excluded.live_count
     RETURNING live_count`,
    rootId,
    author,
    by,
  )
  return row!
}
