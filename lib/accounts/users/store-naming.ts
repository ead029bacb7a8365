import { uniqueKey } from '../../core/characters.ts'
import type { Queries } from '../../storage/database.ts'
import { onRows } from '../../storage/on-rows.ts'
import { INDEXED_NAMES, IS_UNINDEXED } from '../../storage/schema/0052-names.ts'
import { among, type Micros, sql } from '../../storage/sql.ts'
import { indexEntries } from './rules-words.ts'
import type { ShownUser, UserRow } from './store.ts'

interface NamedRow {
  id: string
  username: string
  username_key: string
  display_name: string | null
  disabled_at: number | null
  system_name: string | null
}

const COLUMNS = sql`id, username, username_key, display_name, disabled_at, system_name`

const INSERT = onRows<{ word: string; name: string; user_id: string }>(
  { word: 'text', name: 'text', user_id: 'text' },
  (given) => sql`INSERT INTO user_words (word, name, user_id) SELECT word, name, user_id FROM ${given} WHERE true
     ON CONFLICT DO NOTHING`,
)

/** @returns which name another user already has, if the user was not inserted */
export async function insertUser(tx: Queries, row: UserRow): Promise<'email_taken' | 'username_taken' | undefined> {
  const inserted = await tx.run(
    sql`INSERT INTO users (id, email, email_key, email_verified_at, username, username_key, display_name,
          avatar_url, roles, kind, password_hash, created_at, updated_at)
     VALUES (${row.id}, ${row.email}, ${uniqueKey(row.email)}, ${row.email_verified_at}, ${row.username},
             ${uniqueKey(row.username)}, ${row.display_name}, ${row.avatar_url}, ${row.roles}, ${row.kind},
             ${row.password_hash}, ${row.created_at}, ${row.created_at})
     ON CONFLICT DO NOTHING`,
  )
  if (inserted) return void (await indexUser(tx, row.id))
  const holder = await tx.get(sql`SELECT 1 AS found FROM users WHERE email_key = ${uniqueKey(row.email)}`)
  return holder ? 'email_taken' : 'username_taken'
}

/** Stores the fields that an administrator can change. It fails on an address or a username that another user has. */
export async function updateUser(tx: Queries, row: UserRow, at: Micros): Promise<void> {
  await tx.run(
    sql`UPDATE users SET email = ${row.email}, email_key = ${uniqueKey(row.email)},
          email_verified_at = ${row.email_verified_at}, username = ${row.username},
          username_key = ${uniqueKey(row.username)}, display_name = ${row.display_name},
            roles = ${row.roles}, kind = ${row.kind}, password_hash = ${row.password_hash}, disabled_at = ${row.disabled_at},
            updated_at = ${at}
      WHERE id = ${row.id}`,
  )
  await indexUser(tx, row.id)
}

/** Stores a user's own profile. It fails on a username that another user has. */
export async function updateProfile(
  tx: Queries,
  { id, email, email_verified_at, username, display_name, avatar_url, roles, kind }: ShownUser,
  at: Micros,
): Promise<void> {
  await tx.run(
    sql`UPDATE users SET email = ${email}, email_key = ${uniqueKey(email)}, email_verified_at = ${email_verified_at},
          username = ${username}, username_key = ${uniqueKey(username)}, display_name = ${display_name},
          avatar_url = ${avatar_url}, roles = ${roles}, kind = ${kind}, updated_at = ${at}
      WHERE id = ${id}`,
  )
  await indexUser(tx, id)
}

/** Makes a user a system actor's. It fails on a name that another user has. */
export async function nameSystemUser(tx: Queries, id: string, name: string): Promise<void> {
  await tx.run(sql`UPDATE users SET system_name = ${name} WHERE id = ${id}`)
  await indexUser(tx, id)
}

/** Makes the words of a user whose names, or whose state, may have changed. By primary key, and the index of words. */
async function indexUser(tx: Queries, id: string): Promise<void> {
  await index(tx, await tx.all<NamedRow>(sql`SELECT ${COLUMNS} FROM users WHERE id = ${id} AND ${IS_UNINDEXED}`))
}

/** Makes the words of up to `limit` users who have none, or others. By the index of these. @returns their number */
export async function indexOutdated(tx: Queries, limit: number): Promise<number> {
  const lock = tx.dialect === 'postgresql' ? sql`FOR UPDATE SKIP LOCKED` : sql``
  const rows = await tx.all<NamedRow>(sql`SELECT ${COLUMNS} FROM users WHERE ${IS_UNINDEXED} LIMIT ${limit} ${lock}`)
  await index(tx, rows)
  return rows.length
}

/** Whether the words of any user are outdated. By the index of these. */
export async function hasOutdated(db: Queries): Promise<boolean> {
  return Boolean(await db.get(sql`SELECT 1 AS found FROM users WHERE ${IS_UNINDEXED} LIMIT 1`))
}

async function index(tx: Queries, rows: readonly NamedRow[]): Promise<void> {
  if (rows.length === 0) return
  const ids = rows.map(({ id }) => id)
  await tx.run(sql`DELETE FROM user_words WHERE user_id ${among(tx, ids)}`)
  const entries = rows.flatMap((row) =>
    // A system actor is a part of the host.
    row.system_name === null
      ? indexEntries(row).map((word) => ({ word, name: row.username_key, user_id: row.id }))
      : [],
  )
  await INSERT.run(tx, entries)
  await tx.run(sql`UPDATE users SET words_of = ${INDEXED_NAMES} WHERE id ${among(tx, ids)}`)
}
