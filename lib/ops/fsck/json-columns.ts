import type { Queries } from '../../storage/database.ts'
import { join, literal, name, sql } from '../../storage/sql.ts'
import { isJson, JSON_COLUMNS } from '../../storage/stored-values.ts'

/** The rows that are read at once. */
const BATCH = 1_000

/** The rows of chunks, and of calls, that are read at once: each may have 80 KiB, or twice 64. */
const CHUNKS = 100

/**
 * The rows with a column of JSON that is none, by table, column and id. They are parsed here: PostgreSQL before 16 has no test
 * that does not end the transaction. By primary keys.
 */
export async function listBrokenJson(db: Queries): Promise<string[]> {
  const broken: string[] = []
  for (const [table, columns] of Object.entries(JSON_COLUMNS)) {
    if (table === 'message_chunks') {
      broken.push(...(await listBrokenChunks(db)))
      continue
    }
    if (table === 'chats') {
      broken.push(...(await listBrokenChats(db)))
      continue
    }
    const isSet = columns.map((column) => sql`${name(column)} NOT IN ('', '{}', '[]')`)
    const key = name(table === 'answer_runs' ? 'message_id' : 'id')
    const all = sql`SELECT ${key} AS id, ${join(columns.map(name), ', ')} FROM ${name(table)}`
    let after: string | number = table === 'events' ? -1 : ''
    const batch = table === 'tool_calls' ? CHUNKS : BATCH
    for (let count = batch; count === batch; ) {
      const rows: (Record<string, unknown> & { id: string | number })[] = await db.all(
        sql`${all} WHERE ${key} > ${after} AND (${join(isSet, ' OR ')}) ORDER BY ${key} LIMIT ${literal(batch)}`,
      )
      for (const row of rows)
        for (const column of columns) if (!isJson(row[column])) broken.push(`${table}.${column} ${row.id}`)
      after = rows.at(-1)?.id ?? after
      count = rows.length
    }
  }
  return broken
}

/** Likewise of chats, which are known by their users and names. By primary key. */
async function listBrokenChats(db: Queries): Promise<string[]> {
  const broken: string[] = []
  let [user, chat] = ['', '']
  for (let count = BATCH; count === BATCH; ) {
    const rows = await db.all<{ user_id: string; name: string; metadata: string }>(
      sql`SELECT user_id, name, metadata FROM chats
        WHERE (user_id, name) > (${user}, ${chat}) AND metadata IS NOT NULL
        ORDER BY user_id, name
        LIMIT ${literal(BATCH)}`,
    )
    for (const row of rows) if (!isJson(row.metadata)) broken.push(`chats.metadata ${row.user_id}:${row.name}`)
    const last = rows.at(-1)
    if (last) [user, chat] = [last.user_id, last.name]
    count = rows.length
  }
  return broken
}

/** Likewise of chunks, which have no id of their own. By primary key. */
async function listBrokenChunks(db: Queries): Promise<string[]> {
  const broken: string[] = []
  let [message, idx] = ['', -1]
  for (let count = CHUNKS; count === CHUNKS; ) {
    const rows = await db.all<{ message_id: string; idx: number; part: string | null; provider_data: string | null }>(
      sql`SELECT message_id, idx, part, provider_data FROM message_chunks
        WHERE (message_id, idx) > (${message}, ${idx}) AND (part IS NOT NULL OR provider_data IS NOT NULL)
        ORDER BY message_id, idx
        LIMIT ${literal(CHUNKS)}`,
    )
    for (const row of rows)
      for (const column of ['part', 'provider_data'] as const)
        if (!isJson(row[column])) broken.push(`message_chunks.${column} ${row.message_id}:${row.idx}`)
    const last = rows.at(-1)
    if (last) [message, idx] = [last.message_id, last.idx]
    count = rows.length
  }
  return broken
}
