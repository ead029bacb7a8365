import { RESERVED_NAMES, uniqueKey } from '../../core/characters.ts'
import type { Queries } from '../../storage/database.ts'
import { among, sql } from '../../storage/sql.ts'

/**
 * The ids of the users with this username, or with this display name unless the name begins with `@`. By the keys of
 * both.
 *
 * @param limit of those with the display name
 */
export async function listUsersCalled(db: Queries, name: string, limit: number): Promise<string[]> {
  const isUsername = name.startsWith('@')
  const key = uniqueKey(isUsername ? name.slice(1) : name)
  const named = await db.all<{ id: string }>(sql`SELECT id FROM users WHERE username_key = ${key}`)
  const displayed = isUsername ? [] : await listUsersDisplayed(db, name, limit)
  return [...new Set([...named, ...displayed].map(({ id }) => id))]
}

/** Both databases ignore the case of ASCII letters only; of others, the usual ways to write a name are tried. */
async function listUsersDisplayed(db: Queries, name: string, limit: number): Promise<{ id: string }[]> {
  const normalized = name.trim().normalize('NFC')
  const small = normalized.toLowerCase()
  const capitalised = small.replaceAll(/(?<![\p{L}\p{M}])\p{L}/gu, (first) => first.toUpperCase())
  const keys = [normalized, small, capitalised, normalized.toUpperCase()].map(asciiLower)
  return db.all<{ id: string }>(
    sql`SELECT id FROM users WHERE ${DISPLAY_NAME_KEY[db.dialect]} ${among(db, new Set(keys))} ORDER BY id
          LIMIT ${limit}`,
  )
}

/** The usernames that only users of earlier versions have: new users cannot. By the key of usernames. */
export function listReservedNames(db: Queries): Promise<string[]> {
  return listUsernames(db, RESERVED_NAMES)
}

/** The usernames among these, with any letters that count as the same. By the key of usernames. */
export async function listUsernames(db: Queries, keys: Iterable<string>): Promise<string[]> {
  const rows = await db.all<{ username: string }>(
    sql`SELECT username FROM users WHERE username_key ${among(db, new Set(keys))} ORDER BY username_key`,
  )
  return rows.map(({ username }) => username)
}

const asciiLower = (text: string) => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())

/** The expression of the index `users_by_display_name`. */
const DISPLAY_NAME_KEY = { sqlite: sql`lower(display_name)`, postgresql: sql`lower(display_name COLLATE "C")` }
