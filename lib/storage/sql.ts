import type { Dialect, Primitive, Queries, Row } from './database.ts'

/** Microseconds since 1970, whole numbers up to 2^53. */
export type Micros = number

/** The row of a statement with one parameter that many calls read: kept between two commits where the database can. */
export function recallOrGet<T = Row>(db: Queries, sql: string, param: Primitive): Promise<T | undefined> {
  return db.recall ? db.recall<T>(sql, param) : db.get<T>(sql, param)
}

/**
 * `column ${isOneOf(db.dialect)}`: whether the column has one of any number of texts, given as one parameter,
 * `jsonList(values)`.
 */
export function isOneOf(dialect: Dialect): string {
  // PostgreSQL looks an array up in an index, also when it knows nothing of the table; it would join a subquery.
  return dialect === 'sqlite'
    ? 'IN (SELECT value FROM json_each(?))'
    : '= ANY (ARRAY(SELECT jsonb_array_elements_text(?::jsonb)))'
}

/** The parameter for {@link isOneOf}. */
export function jsonList(values: Iterable<string>): Primitive {
  return JSON.stringify([...values])
}

/** A parameter of `jsonList(values)` as a table `each` with the column `value`. */
export function eachOf(dialect: Dialect): string {
  return dialect === 'sqlite' ? 'json_each(?) AS each' : 'jsonb_array_elements_text(?::jsonb) AS each(value)'
}

/** {@link isOneOf} with numbers, given as JSON. */
export function isOneOfNumbers(dialect: Dialect): string {
  return dialect === 'sqlite'
    ? 'IN (SELECT value FROM json_each(?))'
    : '= ANY (ARRAY(SELECT jsonb_array_elements(?::jsonb)::bigint))'
}

/**
 * The current time of the database's clock, in microseconds: leases and tasks use it, since the clocks of processes may
 * differ. With SQLite it is the machine's clock, which all of its processes share. `ports.now` does not affect it.
 */
export function databaseNow(dialect: Dialect): string {
  return dialect === 'sqlite'
    ? "CAST(unixepoch('subsec') * 1000000 AS INTEGER)"
    : // In a SELECT of its own it is evaluated once, and a condition on it can use an index.
      '(SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)'
}

/** When the server of PostgreSQL was started, which differs from one that takes over from it, or is started again. */
export const SERVER_STARTED = 'CAST(extract(epoch FROM pg_postmaster_start_time()) AS TEXT)'

/** The larger of two numbers: `max` of SQLite, `greatest` of PostgreSQL. */
export function greatest(dialect: Dialect): string {
  return dialect === 'sqlite' ? 'max' : 'greatest'
}

/** A condition on the column `author`: its user was erased with all messages, and the messages are being removed. */
export function isErasedAuthor(author: string): string {
  return `EXISTS (SELECT 1 FROM erased_authors gone WHERE gone.user_id = ${author} AND gone.messages = 'erase')`
}

/** Where the numbers of messages in the search index begin: those of older messages, which get theirs later, are below. */
export const FIRST_DOC = 2 ** 40

/** The number of the next message in the search index. PostgreSQL has it as the default of its column. */
export const NEXT_DOC = `(SELECT max(coalesce(max(doc), 0), ${FIRST_DOC - 1}) + 1 FROM messages WHERE doc IS NOT NULL)`

/** A list of words as SQL, for `IN`. The words are of the program. */
export function listOf(words: readonly string[]): string {
  return `(${words.map((word) => `'${word}'`).join(', ')})`
}

/** Whether the messages of any erased user are being removed: a guard for subqueries that count them. */
export const SOME_ERASED = "EXISTS (SELECT 1 FROM erased_authors WHERE messages = 'erase')"

/** The last activity of a conversation `c`. An older program on the same database, during an upgrade, does not set it. */
export const ACTIVE_AT = 'coalesce(c.active_at, c.created_at)'

/** Whether an identity `i` is that of the host's own authentication, and not of a sign-in provider. */
export const IS_OF_HOST = "i.provider = 'host' AND i.issuer = ''"

/** The host's own id of the user with this id, as a column; NULL for others. By the index of identities by user. */
export const subjectOf = (userId: string) =>
  `(SELECT min(i.subject) FROM identities i WHERE i.user_id = ${userId} AND ${IS_OF_HOST})`

/** Whether another person of a direct conversation `c`, or the system actor that has opened it, is disabled. By primary keys. */
export const isOtherDisabled = (userId: string) => `EXISTS (
    SELECT 1 FROM participants other JOIN users person ON person.id = other.user_id
     WHERE other.conversation_id = c.id AND other.user_id <> ${userId} AND person.disabled_at IS NOT NULL)
  OR EXISTS (SELECT 1 FROM users opener WHERE opener.id = c.system_id AND opener.disabled_at IS NOT NULL)`
