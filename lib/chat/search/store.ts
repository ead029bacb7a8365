import type { Queries } from '../../storage/database.ts'
import { among, amongNumbers, isErasedAuthor, literal, rootTitle, type Sql, sql, where } from '../../storage/sql.ts'
import type { MessageStatus } from '../answers/schema.ts'

/** A change of a message that the index does not know yet. */
export interface Change {
  doc: number
  version: number
}

/** The version of a change that the database refuses. The version of others is not negative. */
const REFUSED = -1

/** PostgreSQL would read all messages by the index of those that have a number, while the table is small or seems to be. */
const HAS_DOC = sql`CASE WHEN doc IS NULL THEN false ELSE true END`

/**
 * A number that is not there again when a change was moved and the message, or another of its number, changes again.
 */
const newVersion = (dialect: Queries['dialect']) =>
  dialect === 'sqlite' ? sql`random() & 9007199254740991` : sql`(random() * 9007199254740991)::bigint`

/**
 * Notes that messages have changed. In the transaction of the change. By primary keys; in one order, so that two
 * transactions do not wait for each other.
 */
export async function noteChanged(tx: Queries, messageIds: Iterable<string>): Promise<void> {
  await tx.run(
    sql`INSERT INTO search_changes (doc, message_id, version)
     SELECT doc, id, ${newVersion(tx.dialect)} FROM messages WHERE id ${among(tx, messageIds)} AND ${HAS_DOC}
     ORDER BY doc
     ON CONFLICT (doc) DO UPDATE SET message_id = excluded.message_id, version = excluded.version`,
  )
}

/** Up to `limit` changes that are not refused, oldest messages first; on PostgreSQL those that no other transaction takes. By primary key. */
export function listChanges(db: Queries, limit: number): Promise<Change[]> {
  return db.all<Change>(
    sql`SELECT doc, version FROM search_changes WHERE version >= 0 ORDER BY doc LIMIT ${limit}
     ${db.dialect === 'postgresql' ? sql`FOR UPDATE SKIP LOCKED` : sql``}`,
  )
}

/** Whether at least this many changes wait that are not refused. By primary key. */
export async function hasChanges(db: Queries, count: number): Promise<boolean> {
  const row = await db.get(
    sql`SELECT 1 AS one FROM search_changes WHERE version >= 0 ORDER BY doc LIMIT 1 OFFSET ${count - 1}`,
  )
  return row !== undefined
}

/** Notes that the index cannot have this change, unless it was changed again. */
export async function refuseChange(tx: Queries, { doc, version }: Change): Promise<void> {
  await tx.run(sql`UPDATE search_changes SET version = ${REFUSED} WHERE doc = ${doc} AND version = ${version}`)
}

/** The latest up to `limit` changed messages from `low` on, below `before`. By primary key. */
export async function listChangedBetween(db: Queries, low: number, before: number, limit: number): Promise<number[]> {
  const rows = await db.all<{ doc: number }>(
    sql`SELECT doc FROM search_changes WHERE doc >= ${low} AND doc < ${before} ORDER BY doc DESC LIMIT ${limit}`,
  )
  return rows.map(({ doc }) => doc)
}

/** The changes that the index does not have yet, counted up to 10,000. By primary key. */
export async function countWaiting(db: Queries): Promise<number> {
  const row = await db.get<{ waiting: number }>(
    sql`SELECT count(*) AS waiting FROM (SELECT doc FROM search_changes LIMIT 10000) AS changes`,
  )
  return Number(row!.waiting)
}

/** The changes that the index does not have yet, and those of them that the database refuses. */
export async function countChanges(db: Queries): Promise<{ waiting: number; refused: number }> {
  const row = await db.get<{ waiting: number; refused: number }>(
    sql`SELECT count(*) AS waiting, coalesce(sum(CASE WHEN version < 0 THEN 1 ELSE 0 END), 0) AS refused
          FROM search_changes`,
  )
  return { waiting: Number(row!.waiting), refused: Number(row!.refused) }
}

/** Takes changes away that nothing has changed again since they were read. @returns the messages of those */
export async function takeChanges(tx: Queries, changes: readonly Change[]): Promise<Set<number>> {
  // Joined with rows of JSON, each would be compared with all changes that there are. No two versions are equal.
  const docs = changes.map(({ doc }) => doc)
  const versions = changes.map(({ version }) => version)
  const rows = await tx.all<{ doc: number }>(
    sql`DELETE FROM search_changes WHERE doc ${amongNumbers(tx, docs)} AND version ${amongNumbers(tx, versions)}
     RETURNING doc`,
  )
  return new Set(rows.map(({ doc }) => doc))
}

/** The numbers of messages that are about to be removed. */
export async function listDocs(db: Queries, messageIds: Iterable<string>): Promise<number[]> {
  const rows = await db.all<{ doc: number }>(
    sql`SELECT doc FROM messages WHERE id ${among(db, messageIds)} AND ${HAS_DOC}`,
  )
  return rows.map(({ doc }) => doc)
}

/** Forgets all changes. */
export async function clearChanges(tx: Queries): Promise<void> {
  await tx.run(sql`DELETE FROM search_changes`)
}

/** Forgets changes of messages that are removed. */
export async function forgetChanges(tx: Queries, docs: readonly number[]): Promise<void> {
  await tx.run(sql`DELETE FROM search_changes WHERE doc ${amongNumbers(tx, docs)}`)
}

/** The conversations that a user takes part in, up to `limit`. */
export async function listOwnConversations(db: Queries, userId: string, limit: number): Promise<string[]> {
  const rows = await db.all<{ conversation_id: string }>(
    sql`SELECT p.conversation_id FROM participants p JOIN conversations c ON c.id = p.conversation_id
      WHERE p.user_id = ${userId} AND c.deleted_at IS NULL LIMIT ${limit}`,
  )
  return rows.map(({ conversation_id }) => conversation_id)
}

/** What narrows a search; each value holds. Instants in microseconds. */
export interface Filters {
  conversations: string[]
  /** One author of each list. */
  authors: string[][]
  threads: string[]
  before: number
  after: number
  is_pinned: boolean
  has_file: boolean
  has_reaction: boolean
  has_mention: boolean
}

/** A message that the user may read, with its texts unless they are long, or an answer is being written. */
export interface Readable {
  id: string
  doc: number
  status: MessageStatus
  /** `null` if they are not read here. */
  content: string | null
  prompt: string | null
  /** The title of the thread that it begins, in any case: it is short. */
  title: string | null
  attachment_list: string | null
}

/** Texts up to this size are read for hundreds of messages at once. */
const SHORT_BYTES = 2048

const IS_SHORT = sql`m.status NOT IN ('streaming', 'waiting') AND octet_length(m.content) + coalesce(octet_length(m.prompt),
       0) <= ${literal(SHORT_BYTES)}`

/** The messages among these that the user may read and that pass the filters, newest first. */
export async function listReadable(
  db: Queries,
  docs: readonly number[],
  userId: string,
  wanted: Filters,
): Promise<Readable[]> {
  return db.all<Readable>(
    sql`SELECT m.id, m.doc, m.status, m.attachment_list, ${rootTitle(sql`m`)} AS title,
            CASE WHEN ${IS_SHORT} THEN m.content END AS content, CASE WHEN ${IS_SHORT} THEN m.prompt END AS prompt
       FROM messages m
       JOIN participants p ON p.conversation_id = m.conversation_id AND p.user_id = ${userId}
       JOIN conversations c ON c.id = m.conversation_id AND c.deleted_at IS NULL
      ${where(
        sql`m.doc ${amongNumbers(db, docs)} AND m.deleted_at IS NULL AND NOT ${isErasedAuthor(sql`m.posted_by`)}`,
        sql`m.created_at < ${wanted.before} AND m.created_at >= ${wanted.after}`,
        ...wanted.conversations.map((id) => sql`m.conversation_id = ${id}`),
        ...wanted.authors.map((ids) => sql`m.posted_by ${among(db, ids)}`),
        ...wanted.threads.map((id) => sql`m.root_id = ${id}`),
        wanted.is_pinned && sql`m.pinned_at IS NOT NULL`,
        wanted.has_file && sql`m.attachment_list IS NOT NULL`,
        wanted.has_reaction && sql`coalesce(m.reaction_list, '[]') <> '[]'`,
        wanted.has_mention && sql`m.mention_all IS NOT NULL`,
      )}
      ORDER BY m.doc DESC`,
  )
}

/** The titles of conversations, by id. */
export async function listTitles(db: Queries, ids: Iterable<string>): Promise<Map<string, string>> {
  const rows = await db.all<{ id: string; title: string }>(
    sql`SELECT id, title FROM conversations WHERE id ${among(db, ids)}`,
  )
  return new Map(rows.map(({ id, title }) => [id, title]))
}

/** The analysis that the index is of, or `off`; `undefined` if there never was one. */
export async function findState(db: Queries): Promise<string | undefined> {
  return (await db.get<{ value: string }>(sql`SELECT value FROM meta WHERE name = 'search'`))?.value
}

/** {@link findState}, locked: no other process can set it until the transaction ends. */
export async function lockState(tx: Queries): Promise<string | undefined> {
  const lock = tx.dialect === 'postgresql' ? sql`FOR UPDATE` : sql``
  return (await tx.get<{ value: string }>(sql`SELECT value FROM meta WHERE name = 'search' ${lock}`))?.value
}

export async function setState(tx: Queries, value: string): Promise<void> {
  await tx.run(
    sql`INSERT INTO meta (name, value) VALUES ('search', ${value}) ON CONFLICT (name) DO UPDATE
          SET value = excluded.value`,
  )
}

export async function hasMessages(db: Queries): Promise<boolean> {
  return (await db.get(sql`SELECT 1 AS one FROM messages LIMIT 1`)) !== undefined
}

/** Whether the index may lack older messages: they are still brought into it, or it is of another analysis. */
export async function isIncomplete(db: Queries, analysis: string): Promise<boolean> {
  return (await isFilling(db)) || (await findState(db)) !== analysis
}

/** When the message with this number was posted. */
export async function findPostedAt(db: Queries, doc: number): Promise<number | undefined> {
  return (await db.get<{ created_at: number }>(sql`SELECT created_at FROM messages WHERE doc = ${doc}`))?.created_at
}

/** Whether older messages are still brought into the index. */
export async function isFilling(db: Queries): Promise<boolean> {
  return (await db.get(sql`SELECT 1 AS one FROM tasks WHERE kind = 'search.fill'`)) !== undefined
}

/** The numbers of the oldest and of the newest message that have one. */
export async function findEnds(db: Queries): Promise<{ oldest: number; newest: number }> {
  const end = (order: Sql) => sql`(SELECT doc FROM messages WHERE doc IS NOT NULL ORDER BY doc ${order} LIMIT 1)`
  const row = await db.get<{ oldest: number | null; newest: number | null }>(
    sql`SELECT ${end(sql`ASC`)} AS oldest, ${end(sql`DESC`)} AS newest`,
  )
  return { oldest: row?.oldest ?? 0, newest: row?.newest ?? 0 }
}
