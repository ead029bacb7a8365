import { newId } from '../../core/ids.ts'
import { isUnderWay } from '../../core/message-status.ts'
import { asInterrupted, partsOfRows, toStoredParts } from '../../core/stored-parts.ts'
import { currentMicros, toInstant } from '../../core/time.ts'
import { listRows } from '../answer-parts.ts'
import type { Database, Primitive, Queries, Row } from '../database.ts'
import { assertExact, listMigrations } from '../schema/migrate.ts'
import { among, literal, name, type Sql, sql, subjectOf } from '../sql.ts'
import { usersIn } from './conversation-rows.ts'
import { allowPauses, listErased, toArchived, withoutErased, withoutErasedTitles } from './export.ts'
import { type Counts, type Line, PAGE, type Progress, VERSION } from './format.ts'

/** The messages of one step: with a file each, and texts of the greatest length, they still fit into the memory. */
const MESSAGES_PAGE = 100

/** Another query of the rows of one conversation. */
interface Part {
  table: string
  /** The condition on its rows. */
  where: (id: string) => Sql
  key: string
}

const OF_CONVERSATION: Part[] = [
  { table: 'conversations', where: (id) => sql`id = ${id} AND deleted_at IS NULL`, key: 'id' },
  { table: 'participants', where: (id) => sql`conversation_id = ${id}`, key: 'user_id' },
]

/** What is told of a thread before its messages, by the index of threads, and what after them. */
const THREADS: Part = { table: 'threads', where: (id) => sql`conversation_id = ${id}`, key: 'last_activity_at' }
const MEMBERS: Part = { table: 'thread_members', where: (id) => sql`root_id = ${id}`, key: 'user_id' }

/** What belongs to messages, by their ids; nothing of erased texts is exported. */
const OF_MESSAGES = [
  { table: 'message_revisions', order: 'replaced_at' },
  { table: 'message_chunks', order: 'idx' },
  { table: 'reactions', order: 'at' },
  { table: 'attachments', order: 'position' },
]

/** The exported conversation. */
export interface ExportedConversation {
  counts: Counts
  /** The ids of the bytes of its files. */
  blob_ids: string[]
}

/**
 * Exports a conversation as JSON lines in one consistent state: a header, the conversation, its participants, thread after
 * thread with its messages and what belongs to them, at the end the users that all of it names, and the counts. Of a user
 * it has the names, the host's own id, and a verified address; no hash, session, key, invite or event.
 *
 * @param write called with several lines at a time, each with its line break; the next follow when it has resolved
 * @returns `undefined` if the database does not have it
 */
export async function exportConversation(
  db: Database,
  id: string,
  write: Write,
  onProgress: Progress = () => {},
): Promise<ExportedConversation | undefined> {
  await assertExact(db)
  const migrations = (await listMigrations(db)).flatMap(({ name, applied_at }) => (applied_at ? [name] : []))
  const header = {
    chat_server_archive: VERSION,
    exported_at: toInstant(currentMicros()),
    migrations,
    conversation: id,
  }
  const teller = createTeller(write, onProgress)
  await db.snapshot(
    async (queries) => {
      await allowPauses(queries)
      if ((await readPage(queries, OF_CONVERSATION[0]!, id)).length === 0) return
      await teller.say({ id: newId(), ...header })
      for (const part of OF_CONVERSATION)
        for await (const rows of pagesOf(queries, part, id)) await teller.tell(part.table, rows)
      const erased = await listErased(queries)
      for await (const threads of pagesOf(queries, THREADS, id))
        for (const thread of threads) await tellThread(queries, teller, thread, erased)
      for (const ids of inPages([...teller.blobs])) await teller.tell('blobs', await listBlobs(queries, ids))
      for (const ids of inPages([...teller.users])) await teller.tell('users', await listUsers(queries, ids))
    },
    { timeout: false },
  )
  const { counts, blobs } = teller
  if (counts.conversations === undefined) return undefined
  await teller.say({ end: true, counts })
  return { counts, blob_ids: [...blobs] }
}

type Write = (lines: string) => void | Promise<void>

type Teller = ReturnType<typeof createTeller>

/** Writes rows, and notes what they name. */
function createTeller(write: Write, onProgress: Progress) {
  const counts: Counts = {}
  const users = new Set<string>()
  const blobs = new Set<string>()
  const say = (...lines: Line[]) => write(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  return {
    counts,
    users,
    blobs,
    say,
    async tell(table: string, rows: Row[]): Promise<void> {
      if (rows.length === 0) return
      await say(...rows.map((row) => ({ table, row: toArchived(table, row) })))
      counts[table] = (counts[table] ?? 0) + rows.length
      onProgress(table, counts[table]!)
      for (const row of rows) {
        for (const user of usersIn(table, row)) users.add(user)
        for (const id of table === 'attachments' ? [row.blob_id, row.thumbnail_blob_id] : [])
          if (typeof id === 'string') blobs.add(id)
      }
    },
  }
}

async function tellThread(db: Queries, { tell }: Teller, thread: Row, erased: Set<string>): Promise<void> {
  await tell('threads', await withoutErasedTitles(db, [thread], erased))
  const rootId = String(thread.root_id)
  for (let path = '', isLast = false; !isLast; ) {
    const rows = await readMessages(db, rootId, path)
    isLast = rows.length < MESSAGES_PAGE
    path = String(rows.at(-1)?.path ?? path)
    const messages = rows.map((row) => withoutErased(row, erased))
    await tell('messages', messages)
    const ids = rows.filter((row) => !erased.has(String(row.posted_by))).map((row) => String(row.id))
    for (const { table, order } of OF_MESSAGES) {
      const all = sql`SELECT * FROM ${name(table)} WHERE message_id ${among(db, ids)} ORDER BY message_id, ${name(order)}`
      await tell(table, await db.all(all))
    }
  }
  for await (const rows of pagesOf(db, MEMBERS, rootId)) await tell('thread_members', rows)
}

async function* pagesOf(db: Queries, part: Part, value: string): AsyncGenerator<Row[]> {
  for (let rows = await readPage(db, part, value); rows.length > 0; ) {
    yield rows
    rows = rows.length < PAGE ? [] : await readPage(db, part, value, rows.at(-1)![part.key])
  }
}

function readPage(db: Queries, { table, where, key }: Part, id: string, after?: Primitive): Promise<Row[]> {
  const next = after === undefined ? sql`` : sql`AND ${name(key)} > ${after}`
  return db.all(
    sql`SELECT * FROM ${name(table)} WHERE ${where(id)} ${next} ORDER BY ${name(key)} LIMIT ${literal(PAGE)}`,
  )
}

/** An answer that is being written is exported as an interrupted one: its text is in its chunks. */
async function readMessages(db: Queries, rootId: string, afterPath: string): Promise<Row[]> {
  const rows = await db.all(
    sql`SELECT * FROM messages WHERE root_id = ${rootId} AND path > ${afterPath} ORDER BY path LIMIT ${literal(MESSAGES_PAGE)}`,
  )
  return Promise.all(
    rows.map(async (row) => {
      if (!isUnderWay(row as { status: string })) return row
      const chunks = await listRows(db, String(row.id))
      const parts = partsOfRows(chunks).map(asInterrupted)
      const content = chunks.map((chunk) => chunk.content).join('')
      const hasParts = parts.some(({ type }) => type !== 'text')
      return { ...row, status: 'interrupted', content, parts: hasParts ? toStoredParts(parts) : null }
    }),
  )
}

function listBlobs(db: Queries, ids: string[]): Promise<Row[]> {
  return db.all(sql`SELECT id, digest, size, parts, created_at FROM blobs WHERE id ${among(db, ids)} ORDER BY id`)
}

/** What an archive of a conversation has of a user. By primary key. */
function listUsers(db: Queries, ids: string[]): Promise<Row[]> {
  return db.all(
    sql`SELECT u.id, u.username, u.display_name,
            CASE WHEN u.system_name IS NULL THEN 'person' ELSE 'system' END AS kind,
            coalesce(u.system_name, ${subjectOf(sql`u.id`)}) AS subject,
            CASE WHEN u.email_verified_at IS NOT NULL AND u.email NOT LIKE '%.invalid' THEN u.email END AS email
       FROM users u WHERE u.id ${among(db, ids)} ORDER BY u.id`,
  )
}

function inPages(ids: string[]): string[][] {
  return Array.from({ length: Math.ceil(ids.length / PAGE) }, (_, n) => ids.slice(n * PAGE, (n + 1) * PAGE))
}
