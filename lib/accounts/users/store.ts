import { splitRoles } from '../../core/actor.ts'
import { uniqueKey } from '../../core/characters.ts'
import { toInstant } from '../../core/time.ts'
import type { Queries } from '../../storage/database.ts'
import { among, IS_OF_HOST, isAbandoned, type Micros, sql } from '../../storage/sql.ts'
import type { Photos } from './photos.ts'
import { isPlaceholder, type Standing, type UserKind } from './rules.ts'
import type { User, UsersQuery } from './schema.ts'

/** A user as it is stored. */
export interface UserRow {
  id: string
  email: string
  /** When the address was verified to belong to the user; `null` if it is not. */
  email_verified_at: Micros | null
  username: string
  display_name: string | null
  /** The photo: the URL of the host's, or the path of one that the user has set. */
  avatar_url: string | null
  /** Separated by commas. */
  roles: string
  kind: UserKind
  password_hash: string | null
  disabled_at: Micros | null
  created_at: Micros
}

const COLUMNS = sql`id, email, email_verified_at, username, display_name, avatar_url, roles, kind,
  password_hash, disabled_at, created_at`

/** The public columns of a user. */
export type ShownUser = Pick<
  UserRow,
  'id' | 'email' | 'email_verified_at' | 'username' | 'display_name' | 'avatar_url' | 'roles' | 'kind'
>

/** A row as the user reads it. */
export function toUser(row: ShownUser, photos: Photos): User {
  const { id, email, username, display_name, avatar_url } = row
  return {
    id,
    ...(!isPlaceholder(email) && { email }),
    email_verified: row.email_verified_at !== null,
    username,
    ...(display_name && { display_name }),
    ...photos(avatar_url),
    roles: splitRoles(row.roles),
    ...(row.kind !== 'person' && { kind: row.kind }),
  }
}

/** Whether a person has an account: guests come without one. */
export async function hasUsers(db: Queries): Promise<boolean> {
  return Boolean(await db.get(sql`SELECT 1 AS found FROM users WHERE system_name IS NULL AND kind = 'person' LIMIT 1`))
}

export function findUser(db: Queries, id: string): Promise<UserRow | undefined> {
  return db.get<UserRow>(sql`SELECT ${COLUMNS} FROM users WHERE id = ${id}`)
}

export function findUserByEmail(db: Queries, email: string): Promise<UserRow | undefined> {
  return db.get<UserRow>(sql`SELECT ${COLUMNS} FROM users WHERE email_key = ${uniqueKey(email)}`)
}

export function findUserByUsername(db: Queries, username: string): Promise<UserRow | undefined> {
  return db.get<UserRow>(sql`SELECT ${COLUMNS} FROM users WHERE username_key = ${uniqueKey(username)}`)
}

/** The usernames of these users. By primary key. */
export async function findUsernames(db: Queries, ids: string[]): Promise<Map<string, string>> {
  const rows = await db.all<{ id: string; username: string }>(
    sql`SELECT id, username FROM users WHERE id ${among(db, ids)}`,
  )
  return new Map(rows.map(({ id, username }) => [id, username]))
}

/** The names that others see of these users. By primary key. */
export async function findShownNames(db: Queries, ids: string[]): Promise<Map<string, string>> {
  const rows = await db.all<{ id: string; name: string }>(
    sql`SELECT id, coalesce(display_name, username) AS name FROM users WHERE id ${among(db, ids)}`,
  )
  return new Map(rows.map(({ id, name }) => [id, name]))
}

/** The users with this id, username or email address: at most two. By the three keys. */
export function listUsersNamed(db: Queries, name: string): Promise<UserRow[]> {
  const key = uniqueKey(name)
  return db.all<UserRow>(
    sql`SELECT ${COLUMNS} FROM users WHERE id = ${name} OR username_key = ${key} OR email_key = ${key} LIMIT 2`,
  )
}

/**
 * Locks these users until the transaction ends, and optionally every active administrator. In the order of their ids,
 * so that concurrent calls do not deadlock.
 */
export function lockUsers(tx: Queries, ids: Iterable<string>, options: { admins: boolean }): Promise<UserRow[]> {
  const admins = options.admins ? sql`OR (disabled_at IS NULL AND ',' || roles || ',' LIKE '%,admin,%')` : sql``
  return tx.all<UserRow>(
    sql`SELECT ${COLUMNS} FROM users
      WHERE id ${among(tx, ids)} ${admins}
      ORDER BY id ${tx.dialect === 'postgresql' ? sql`FOR UPDATE` : sql``}`,
  )
}

/** Locks all users until the transaction ends. @returns the columns of each that decide whether it is an administrator */
export function lockAllUsers(tx: Queries): Promise<Standing[]> {
  const lock = tx.dialect === 'postgresql' ? sql`FOR UPDATE` : sql``
  return tx.all<Standing>(sql`SELECT id, roles, disabled_at FROM users ORDER BY id ${lock}`)
}

/** The numbers of what belongs to a user. By the indexes of each table. */
export async function countBelongings(db: Queries, id: string, now: Micros) {
  const row = await db.get<{ sessions: number; seen: Micros | null; keys: number; identities: number; places: number }>(
    sql`SELECT (SELECT count(*) FROM sessions WHERE user_id = ${id} AND idle_expires_at >= ${now}
          AND absolute_expires_at >= ${now}) AS sessions,
            (SELECT max(last_seen_at) FROM sessions WHERE user_id = ${id}) AS seen,
            (SELECT count(*) FROM api_keys WHERE user_id = ${id} AND grant_id IS NULL) AS keys,
            (SELECT count(*) FROM identities WHERE user_id = ${id}) AS identities,
            (SELECT count(*) FROM participants p JOIN conversations c ON c.id = p.conversation_id
              WHERE p.user_id = ${id} AND c.deleted_at IS NULL) AS places`,
  )
  const { seen, places, ...counts } = row!
  return { ...counts, conversations: places, ...(seen !== null && { last_seen_at: toInstant(seen) }) }
}

/** Up to `limit` users after `after`, oldest first, whose username or address begins with `query`: all, or that with `subject`. */
export function listUsers(
  db: Queries,
  { query, subject }: Pick<UsersQuery, 'query' | 'subject'>,
  after: string,
  limit: number,
): Promise<UserRow[]> {
  const from = uniqueKey(query ?? '')
  const to = `${from}\u{10FFFF}`
  return db.all<UserRow>(
    sql`SELECT ${COLUMNS} FROM users
      WHERE id > ${after} AND ((username_key >= ${from} AND username_key < ${to}) OR (email_key >= ${from}
          AND email_key < ${to}))
            ${
              subject === undefined
                ? sql``
                : sql`AND id IN (SELECT i.user_id FROM identities i WHERE ${IS_OF_HOST}
                   AND i.subject = ${subject})`
            }
      ORDER BY id
      LIMIT ${limit}`,
  )
}

/** The roles of a user, and up to which instants its streams and signed tokens have ended. */
interface EnabledUser {
  /** As they are stored. */
  roles: string
  streams_ended_at: Micros
  tokens_after: Micros
}

/**
 * The ones of these users that exist and are not disabled, nor bots of a disabled owner, each with the times up to which its
 * streams must end.
 */
export async function listEnabledUsers(db: Queries, ids: Iterable<string>): Promise<Map<string, EnabledUser>> {
  const rows = await db.all<EnabledUser & { id: string }>(
    sql`SELECT id, roles, coalesce(streams_ended_at, 0) AS streams_ended_at, tokens_after FROM users
      WHERE disabled_at IS NULL AND id ${among(db, ids)} AND ${isAbandoned(sql`users`)} = 0`,
  )
  return new Map(rows.map((row) => [row.id, row]))
}

/** Locks the user's sessions: other changes of them wait until this transaction ends. */
export async function lockUser(tx: Queries, id: string): Promise<void> {
  await tx.get(sql`SELECT id FROM users WHERE id = ${id}${tx.dialect === 'postgresql' ? sql` FOR UPDATE` : sql``}`)
}
