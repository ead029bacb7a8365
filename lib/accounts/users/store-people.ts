import { uniqueKey } from '../../core/characters.ts'
import type { Queries } from '../../storage/database.ts'
import { IS_UNINDEXED } from '../../storage/schema/0052-names.ts'
import { among, join, literal, type Micros, type Sql, sql } from '../../storage/sql.ts'
import type { Photos } from './photos.ts'
import { PLACEHOLDER_DOMAINS, type UserKind } from './rules.ts'
import type { Entries } from './rules-words.ts'
import type { Person } from './schema.ts'

/** What other users read of a user. */
export interface PersonRow {
  id: string
  username: string
  username_key: string
  display_name: string | null
  avatar_url: string | null
  disabled_at: Micros | null
  system_name: string | null
  kind: UserKind
}

/** Conversations `own` that a user takes part in, among those of a row. By user_id, or by primary key. */
const sharedWith = (userId: string, place: Sql) =>
  sql`participants own JOIN conversations c ON c.id = own.conversation_id AND c.deleted_at IS NULL
   WHERE own.user_id = ${userId} AND own.conversation_id = ${place}`

/**
 * The users among these that take part, or did, in a conversation of the reader, by what is noted of them, and by the events
 * of what an older program has done: those of a user, as a conversation has any number.
 */
async function listMet(db: Queries, readerId: string, ids: Sql): Promise<string[]> {
  const rows = await db.all<{ user_id: string }>(
    sql`SELECT p.user_id FROM participants p, ${sharedWith(readerId, sql`p.conversation_id`)} AND p.user_id ${ids}
     UNION
     SELECT f.user_id FROM former_participants f, ${sharedWith(readerId, sql`f.conversation_id`)} AND f.user_id ${ids}
     UNION
     SELECT e.user_id FROM events e WHERE e.type = 'membership.changed' AND e.user_id ${ids}
        AND EXISTS (SELECT 1 FROM ${sharedWith(readerId, sql`e.conversation_id`)})`,
  )
  return rows.map(({ user_id }) => user_id)
}

/** The users among these that take part, or did, in a conversation that all users read. By user_id, then by primary key. */
async function listInOpen(db: Queries, ids: Sql): Promise<string[]> {
  const isIn = (table: Sql) => sql`EXISTS (SELECT 1 FROM ${table} p JOIN conversations c ON c.id = p.conversation_id
      WHERE p.user_id = u.id AND c.visibility = 'open' AND c.deleted_at IS NULL)`
  const rows = await db.all<{ id: string }>(
    sql`SELECT u.id FROM users u
      WHERE u.id ${ids} AND (${isIn(sql`participants`)} OR ${isIn(sql`former_participants`)})`,
  )
  return rows.map(({ id }) => id)
}

/** A reader, and the users that it may see by id. */
interface Reader {
  user_id: string
  /** Set where it sees all users. */
  seesAll: boolean
  /** Set where it also sees the users of conversations that all users read. */
  readsOpen?: boolean
}

/**
 * The ones of these users that a reader may see, in no order: all, or the reader, system actors, and those met in
 * conversations. These are looked up whether a user exists or not, so the time does not tell it.
 */
export async function listVisible(
  db: Queries,
  { user_id, seesAll, readsOpen = false }: Reader,
  ids: Iterable<string>,
): Promise<PersonRow[]> {
  const these = among(db, ids)
  const inOpen = readsOpen && !seesAll ? await listInOpen(db, these) : []
  const known = seesAll ? undefined : [user_id, ...inOpen, ...(await listMet(db, user_id, these))]
  const isVisible = known ? sql`AND (u.system_name IS NOT NULL OR u.id ${among(db, known)})` : sql``
  return db.all<PersonRow>(
    sql`SELECT ${COLUMNS} FROM users u
      WHERE u.id ${these} AND NOT EXISTS (SELECT 1 FROM erased_authors gone WHERE gone.user_id = u.id) ${isVisible}`,
  )
}

/**
 * Which users a search finds: active ones, no parts of the host, no bots of hooks, which have no owner, no temporary ones.
 * With `system_name IS NULL`, SQLite would look at all users by the index of that column, instead of at those with the ids
 * that are searched for.
 */
const IS_FOUND = sql`u.disabled_at IS NULL AND coalesce(u.system_name, '') = '' AND coalesce(u.owner_id, u.kind) <> 'bot'
  AND u.email_key NOT LIKE ${literal(`%@${PLACEHOLDER_DOMAINS.probe}`)}`

const COLUMNS = sql`u.id, u.username, u.username_key, u.display_name, u.avatar_url, u.disabled_at, u.system_name, u.kind`

/** A user of an entry of the index, which may be outdated. */
export type EntryRow = PersonRow & { is_found: number }

/** A row as other users read it. */
export function toPerson(
  { id, username, display_name, avatar_url, disabled_at, system_name, kind }: PersonRow,
  photos: Photos,
): Person {
  return {
    id,
    username,
    ...(display_name && { display_name }),
    ...photos(avatar_url),
    kind: system_name === null ? kind : 'system',
    ...(disabled_at !== null && { disabled: true as const }),
  }
}

/** The user with this very username. By username_key. */
export function listNamed(db: Queries, username: string): Promise<PersonRow[]> {
  return db.all<PersonRow>(
    sql`SELECT ${COLUMNS} FROM users u WHERE u.username_key = ${uniqueKey(username)} AND ${IS_FOUND}`,
  )
}

/** Up to `limit` users whose username begins so, by name: without words, they are found as before. By username_key. */
export function listBeginning(db: Queries, beginning: string, limit: number): Promise<PersonRow[]> {
  const from = uniqueKey(beginning)
  return db.all<PersonRow>(
    sql`SELECT ${COLUMNS} FROM users u
      WHERE u.username_key >= ${from} AND u.username_key < ${`${from}\u{10FFFF}`} AND ${IS_FOUND}
      ORDER BY u.username_key LIMIT ${limit}`,
  )
}

/** Up to `limit` users whose words are outdated. By the index of these. */
export function listOutdated(db: Queries, limit: number): Promise<PersonRow[]> {
  return db.all<PersonRow>(
    sql`SELECT ${COLUMNS} FROM users u
      WHERE u.id IN (SELECT id FROM users WHERE ${IS_UNINDEXED} LIMIT ${limit}) AND ${IS_FOUND}`,
  )
}

/** How many of these entries there are, counted up to a limit. By (word, name) of the index of words. */
export async function countEntries(db: Queries, entries: Entries, limit: number): Promise<number> {
  const row = await db.get<{ count: number }>(sql`SELECT count(*) AS count FROM (${entryRows(entries, limit)}) counted`)
  return row!.count
}

/**
 * Up to `limit` users by name, of those of the first `scanned` of these entries who have each of these other entries, with
 * whether a search finds them. By (word, name) of the index of words, then by its primary key.
 */
export function listWithAll(
  db: Queries,
  entries: Entries,
  { others, scanned, limit }: { others: string[]; scanned: number; limit: number },
): Promise<EntryRow[]> {
  // An expression, so that SQLite uses the index by name, where users who are next to each other have rows next to each other.
  // By id, each would be on another page.
  const has = (word: string) =>
    sql`EXISTS (SELECT 1 FROM user_words o WHERE o.word = ${word} AND o.name = w.name AND o.user_id || '' = w.user_id)`
  const hasAll = others.length > 0 ? sql`WHERE ${join(others.map(has), ' AND ')}` : sql``
  return db.all<EntryRow>(
    sql`SELECT ${COLUMNS}, CASE WHEN ${IS_FOUND} THEN 1 ELSE 0 END AS is_found
       FROM (SELECT w.user_id FROM (SELECT DISTINCT name, user_id FROM (${entryRows(entries, scanned)}) w) w ${hasAll}
             ORDER BY w.name, w.user_id LIMIT ${limit}) w
       JOIN users u ON u.id = w.user_id`,
  )
}

function entryRows({ text, isWhole }: Entries, limit: number): Sql {
  return isWhole
    ? sql`SELECT name, user_id FROM user_words WHERE word = ${text} ORDER BY name, user_id LIMIT ${limit}`
    : sql`SELECT name, user_id FROM user_words WHERE word >= ${text} AND word < ${`${text}\u{10FFFF}`}
        ORDER BY word, name, user_id LIMIT ${limit}`
}

/**
 * Up to `limit` participations in the smallest of the caller's latest conversations, as their users. By user_id, then by
 * primary keys.
 */
export function listAcquaintances(db: Queries, userId: string, limit: number): Promise<PersonRow[]> {
  return db.all<PersonRow>(
    sql`SELECT ${COLUMNS} FROM users u
      WHERE u.id IN (SELECT user_id FROM (
        SELECT theirs.user_id FROM (
            SELECT c.id FROM (SELECT conversation_id FROM participants WHERE user_id = ${userId}
              ORDER BY conversation_id DESC LIMIT ${limit}) own
             JOIN conversations c ON c.id = own.conversation_id WHERE c.deleted_at IS NULL
            ORDER BY c.participant_count) place
          JOIN participants theirs ON theirs.conversation_id = place.id LIMIT ${limit}) near)
        AND ${IS_FOUND}`,
  )
}

/**
 * A user, and all who share a private conversation with the user that is not joined by itself, in no order. By user_id, then
 * by primary keys.
 *
 * @returns `undefined` if those conversations have more than `limit` participations
 */
export async function listCircle(db: Queries, userId: string, limit: number): Promise<PersonRow[] | undefined> {
  const places = await db.all<{ user_id: string }>(
    sql`SELECT theirs.user_id FROM participants theirs, ${sharedWith(userId, sql`theirs.conversation_id`)}
        AND c.visibility IS NULL AND c.auto_join IS NULL LIMIT ${limit + 1}`,
  )
  if (places.length > limit) return undefined
  const ids = new Set([userId, ...places.map((place) => place.user_id)])
  return db.all<PersonRow>(sql`SELECT ${COLUMNS} FROM users u WHERE u.id ${among(db, ids)} AND ${IS_FOUND}`)
}
