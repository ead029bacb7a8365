import { newId } from '../../core/ids.ts'
import { currentMicros, toInstant } from '../../core/time.ts'
import { DAY } from '../../core/units.ts'
import type { Database, Dialect, Queries, Row } from '../database.ts'
import { listHistories } from '../histories.ts'
import { assertExact, listMigrations } from '../schema/migrate.ts'
import { among, isErasedAuthor, join, literal, type Micros, name, type Sql, sql, where } from '../sql.ts'
import { type Counts, type Line, PAGE, type Progress, TABLES, VERSION } from './format.ts'
import { visibleRows } from './visible.ts'

/** Columns of one kind of database only: the other has no such column, or renumbers its rows; or of an index. */
const LOCAL_COLUMNS: Record<string, string[]> = { events: ['feed', 'xid'], messages: ['doc'], users: ['words_of'] }

/**
 * Exports the database as JSON lines in one consistent state: a header, a line per row, and the counts at the end.
 *
 * @param write called with several lines at a time, each with its line break; the next follow when it has resolved
 */
export async function exportArchive(
  db: Database,
  write: (lines: string) => void | Promise<void>,
  onProgress: Progress = () => {},
): Promise<Counts> {
  await assertExact(db)
  const migrations = (await listMigrations(db)).flatMap(({ name, applied_at }) => (applied_at ? [name] : []))
  const say = async (...lines: Line[]) => write(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  const storage = (await db.get<{ value: string }>(sql`SELECT value FROM meta WHERE name = 'storage'`))?.value
  const header = { chat_server_archive: VERSION, id: newId(), exported_at: toInstant(currentMicros()), migrations }
  const event_histories = await listHistories(db)
  await say({ ...header, ...(storage !== undefined && { storage }), event_histories })
  const counts: Counts = {}
  await db.snapshot(
    async (queries) => {
      await allowPauses(queries)
      const erased = await listErased(queries)
      for (const [table, ...key] of TABLES) {
        counts[table] = 0
        for (let page = await readPage(queries, table, key); page.length > 0; ) {
          const rows = await withoutTexts(queries, table, page, erased)
          await say(...rows.map((row) => ({ table, row: toArchived(table, row) })))
          counts[table] += page.length
          onProgress(table, counts[table])
          page = await readPage(queries, table, key, page.at(-1))
        }
      }
    },
    { timeout: false },
  )
  await say({ end: true, counts })
  return counts
}

/** Lets a snapshot on PostgreSQL wait for what receives the lines, which may be slow. */
export async function allowPauses(db: Queries): Promise<void> {
  if (db.dialect === 'postgresql')
    await db.get(sql`SELECT set_config('idle_in_transaction_session_timeout', '0', true)`)
}

function readPage(db: Queries, table: string, key: string[], after?: Row): Promise<Row[]> {
  const columns = join(key.map(name), ', ')
  const next =
    after &&
    sql`(${columns}) > (${join(
      key.map((column) => sql`${after[column]!}`),
      ', ',
    )})`
  const rows = where(next, ...toExport(table, db.dialect))
  return db.all(sql`SELECT * FROM ${name(table)} AS one ${rows} ORDER BY ${columns} LIMIT ${literal(PAGE)}`)
}

/**
 * A row as archives have it: without the columns of one kind of database. Answers have the mark of generated text, as their readers
 * get it; in the database their role is that.
 */
export function toArchived(table: string, row: Row): Row {
  const local = LOCAL_COLUMNS[table] ?? []
  const archived = Object.fromEntries(Object.entries(row).filter(([name]) => !local.includes(name)))
  const isMarked = table === 'messages' && 'generated' in row && row.role === 'assistant' && row.deleted_at === null
  return isMarked ? { ...archived, generated: 1 } : archived
}

/** The tables, besides the messages, with what goes with the texts of an erased author. */
const TEXTS_OF_MESSAGES = [
  'reactions',
  'answer_feedback',
  'notifications',
  'message_revisions',
  'message_chunks',
  'tool_calls',
  'approval_votes',
]

/** The messages of rows that do not name them by `message_id` alone. */
const MESSAGES_OF: Record<string, Sql> = {
  notifications: sql`coalesce(one.message_id, one.id)`,
  approval_votes: sql`(SELECT called.message_id FROM tool_calls called WHERE called.id = one.call_id)`,
}

/** Older notifications are not exported: they only help to read. */
const NOTIFIED = 7 * DAY

/** Conditions that exclude rows from an archive: hidden rows that are not removed yet, private events, and old notifications. */
function toExport(table: string, dialect: Dialect): (Sql | false | undefined)[] {
  const messageId = MESSAGES_OF[table] ?? sql`one.message_id`
  return [
    visibleRows(table, dialect),
    TEXTS_OF_MESSAGES.includes(table) &&
      sql`NOT EXISTS (SELECT 1 FROM messages m WHERE m.id = ${messageId} AND ${isErasedAuthor(sql`m.posted_by`)})`,
    table === 'events' && sql`one.for_user_id IS NULL`,
    table === 'notifications' && sql`at >= ${recentOf(currentMicros())}`,
  ]
}

/** Before the last notification, or before now if that is earlier: a clock ahead leaves none out. */
function recentOf(now: Micros): Sql {
  const last = sql`max(every.at)`
  return sql`(SELECT CASE WHEN ${last} < ${now} THEN ${last} ELSE ${now} END - ${literal(NOTIFIED)} FROM notifications every)`
}

/**
 * Users whose messages are being erased: an archive has the messages without the texts, and the erasure continues after
 * an import.
 */
export async function listErased(db: Queries): Promise<Set<string>> {
  const rows = await db.all<{ user_id: string }>(sql`SELECT user_id FROM erased_authors WHERE messages = 'erase'`)
  return new Set(rows.map((row) => row.user_id))
}

/** Rows of a table without the texts of users whose messages are being erased. */
async function withoutTexts(db: Queries, table: string, rows: Row[], erased: Set<string>): Promise<Row[]> {
  switch (erased.size > 0 && table) {
    case 'threads':
      return withoutErasedTitles(db, rows, erased)
    case 'attachments': {
      // The rows stay: by them the erasure deletes the bytes.
      const gone = await listErasedMessages(
        db,
        rows.flatMap(({ message_id }) => (message_id ? String(message_id) : [])),
      )
      return rows.map((row) => (gone.has(String(row.message_id)) ? { ...row, name: '' } : row))
    }
    case 'messages':
      return rows.map((row) => {
        const message = withoutErased(row, erased)
        return message === row ? row : { ...message, attachment_list: withoutNames(row.attachment_list) }
      })
    default:
      return rows
  }
}

function withoutNames(list: Row[string] | undefined): string | null {
  if (list == null) return null
  return JSON.stringify((JSON.parse(String(list)) as object[]).map((file) => ({ ...file, name: '' })))
}

/** A message without its texts and files, if its author is being erased. */
export function withoutErased(row: Row, erased: Set<string>): Row {
  if (!erased.has(String(row.posted_by))) return row
  // An archive of an older schema has neither quotes nor origins of mentions.
  const texts = {
    content: '',
    prompt: null,
    delete_reason: null,
    metadata: null,
    ...('quote_id' in row && { quote_id: null }),
    ...('mention_origins' in row && { mention_origins: null }),
    ...('attachment_list' in row && { attachment_list: null }),
    ...('parts' in row && { parts: null }),
    ...('context' in row && { context: null }),
  }
  return { ...row, ...texts, reaction_list: null, mention_all: null, mentioned: null, pinned_at: null, pinned_by: null }
}

/** Threads without the titles of roots whose authors are being erased. */
export async function withoutErasedTitles(db: Queries, threads: Row[], erased: Set<string>): Promise<Row[]> {
  const titled = threads.filter(({ title }) => title != null).map(({ root_id }) => String(root_id))
  if (erased.size === 0 || titled.length === 0) return threads
  const gone = await listErasedMessages(db, titled)
  return threads.map((row) => (gone.has(String(row.root_id)) ? { ...row, title: null } : row))
}

/** The messages that are being erased with their authors, among these. By primary key. */
async function listErasedMessages(db: Queries, ids: string[]): Promise<Set<string>> {
  const rows = await db.all<{ id: string }>(
    sql`SELECT m.id FROM messages m WHERE m.id ${among(db, ids)} AND ${isErasedAuthor(sql`m.posted_by`)}`,
  )
  return new Set(rows.map(({ id }) => id))
}

/** About how many rows an archive of this database has. */
export async function estimateRows(db: Queries): Promise<number> {
  const counts =
    db.dialect === 'sqlite'
      ? join(
          TABLES.map(([table]) => sql`SELECT count(*) AS rows FROM ${name(table)}`),
          ' UNION ALL ',
        )
      : sql`SELECT greatest(reltuples, 0) AS rows FROM pg_class WHERE oid IN (${join(
          TABLES.map(([table]) => sql`to_regclass(${literal(table)})`),
          ', ',
        )})`
  const row = await db.get<{ rows: number }>(sql`SELECT sum(rows) AS rows FROM (${counts}) AS tables`)
  return Number(row?.rows ?? 0)
}
