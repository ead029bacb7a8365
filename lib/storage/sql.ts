import type { Dialect, Primitive, Queries, Row } from './database.ts'

const MADE = Symbol('sql')

/** A statement or a part of one, with its values. Made by {@link sql}, so no text of a caller becomes SQL. */
export interface Sql {
  readonly [MADE]: true
  /** Has a `?` for each value. */
  readonly text: string
  readonly params: readonly Primitive[]
}

/** The text that a literal resulted in when it was last used, and the texts that stood for its values. */
interface LastText {
  readonly parts: readonly string[]
  readonly text: string
}

/**
 * A literal whose parts are the ones of its last use keeps its text: prepared statements are looked up by it, and a new
 * string would have to be hashed. (Measured: 30 ns without parts, 100 with one.)
 */
const lastTexts = new WeakMap<TemplateStringsArray, LastText>()

/**
 * Makes a statement or a part of one. Values become parameters; parts, made by `sql` too, are inserted with their values.
 *
 * A string is a value, also where a column was meant: `SELECT ${'id'}` returns `id`.
 */
export function sql(strings: TemplateStringsArray, ...values: (Primitive | Sql)[]): Sql {
  return statement(textFor(strings, values), values.some(isSql) ? paramsFrom(values) : (values as Primitive[]))
}

function textFor(strings: TemplateStringsArray, values: (Primitive | Sql)[]): string {
  const last = lastTexts.get(strings)
  if (last?.parts.every((part, n) => part === textOf(values[n]!))) return last.text
  const parts = values.map(textOf)
  const text = strings.reduce((before, string, n) => before + parts[n - 1] + string)
  lastTexts.set(strings, { parts, text })
  return text
}

function paramsFrom(values: (Primitive | Sql)[]): Primitive[] {
  const params: Primitive[] = []
  for (const value of values) {
    if (isSql(value)) params.push(...value.params)
    else params.push(value)
  }
  return params
}

const textOf = (value: Primitive | Sql) => (isSql(value) ? value.text : '?')

function isSql(value: Primitive | Sql): value is Sql {
  return typeof value === 'object' && value !== null && MADE in value
}

/** A statement of a text that the program has put together, with a `?` for each parameter. For `storage` only. */
export function statement(text: string, params: readonly Primitive[] = []): Sql {
  return { [MADE]: true, text, params }
}

/** A statement that was made once, with other values. */
export function withParams({ text }: Pick<Sql, 'text'>, params: readonly Primitive[]): Sql {
  return statement(text, params)
}

/** Parts with a separator between them: a list of columns, conditions behind each other. */
export function join(parts: readonly Sql[], separator: ', ' | ' AND ' | ' OR ' | ' UNION ALL ' | ' UNION '): Sql {
  return statement(parts.map(({ text }) => text).join(separator), paramsFrom([...parts]))
}

/** `WHERE` with the conditions that apply, or nothing. */
export function where(...conditions: (Sql | false | undefined)[]): Sql {
  const all = conditions.filter((condition) => condition !== undefined && condition !== false)
  return all.length > 0 ? sql`WHERE ${join(all, ' AND ')}` : sql``
}

/** The name of a table or a column, which the program has in a variable: `id`, `m.id`. */
export function name(word: string): Sql {
  if (!/^\w+(\.\w+)?$/.test(word)) throw new Error(`Not a name in SQL: ${word}`)
  return statement(word)
}

/** `name = value` for each column of a row, for `SET`. */
export function assignments(row: Row): Sql {
  return join(
    Object.entries(row).map(([column, value]) => sql`${name(column)} = ${value}`),
    ', ',
  )
}

/** A value of the program as text of the statement: conditions of an index are only found by such a one. */
export function literal(value: string | number): Sql {
  return statement(typeof value === 'number' ? String(value) : `'${value.replaceAll("'", "''")}'`)
}

/** Microseconds since 1970, whole numbers up to 2^53. */
export type Micros = number

/** The row of a statement with one value that many calls read: kept between two commits where the database can. */
export function recallOrGet<T = Row>(db: Queries, one: Sql): Promise<T | undefined> {
  return db.recall ? db.recall<T>(one) : db.get<T>(one)
}

/** `column ${among(db, ids)}`: whether the column has one of any number of texts, which are one parameter. */
export function among({ dialect }: Pick<Queries, 'dialect'>, texts: Iterable<string>): Sql {
  // PostgreSQL looks an array up in an index, also when it knows nothing of the table; it would join a subquery.
  return dialect === 'sqlite'
    ? sql`IN (SELECT value FROM json_each(${jsonList(texts)}))`
    : sql`= ANY (ARRAY(SELECT jsonb_array_elements_text(${jsonList(texts)}::jsonb)))`
}

/** {@link among} with the texts that a query finds: few rows of a small table, by which rows of a large one are looked up. */
export function amongFound({ dialect }: Pick<Queries, 'dialect'>, query: Sql): Sql {
  return dialect === 'sqlite' ? sql`IN (${query})` : sql`= ANY (ARRAY(${query}))`
}

/** {@link among} with numbers. */
export function amongNumbers({ dialect }: Pick<Queries, 'dialect'>, numbers: readonly number[]): Sql {
  return dialect === 'sqlite'
    ? sql`IN (SELECT value FROM json_each(${JSON.stringify(numbers)}))`
    : sql`= ANY (ARRAY(SELECT jsonb_array_elements(${JSON.stringify(numbers)}::jsonb)::bigint))`
}

/** Texts as a table `each` with the column `value`, in one parameter. */
export function each({ dialect }: Pick<Queries, 'dialect'>, texts: Iterable<string>): Sql {
  return dialect === 'sqlite'
    ? sql`json_each(${jsonList(texts)}) AS each`
    : sql`jsonb_array_elements_text(${jsonList(texts)}::jsonb) AS each(value)`
}

/** Any number of texts as one parameter. */
export function jsonList(values: Iterable<string>): Primitive {
  return JSON.stringify([...values])
}

/**
 * The current time of the database's clock, in microseconds: leases and tasks use it, since the clocks of processes may
 * differ. With SQLite it is the machine's clock, which all of its processes share. `ports.now` does not affect it.
 */
export function databaseNow(dialect: Dialect): Sql {
  return dialect === 'sqlite'
    ? sql`CAST(unixepoch('subsec') * 1000000 AS INTEGER)`
    : // In a SELECT of its own it is evaluated once, and a condition on it can use an index.
      sql`(SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)`
}

/** When the server of PostgreSQL was started, which differs from one that takes over from it, or is started again. */
export const SERVER_STARTED = sql`CAST(extract(epoch FROM pg_postmaster_start_time()) AS TEXT)`

/** The larger of two numbers: `max` of SQLite, `greatest` of PostgreSQL. */
export function greatest(dialect: Dialect): Sql {
  return dialect === 'sqlite' ? sql`max` : sql`greatest`
}

/** A condition on the column `author`: its user was erased with all messages, and the messages are being removed. */
export function isErasedAuthor(author: Sql): Sql {
  return sql`EXISTS (SELECT 1 FROM erased_authors gone WHERE gone.user_id = ${author}
         AND gone.messages = 'erase')`
}

/** The kind of a user who is no person, else NULL, as a column. By the index of these, which is small in most services. */
export function authorKind(userId: Sql): Sql {
  return sql`(SELECT author.kind FROM users author WHERE author.id = ${userId} AND author.kind <> 'person')`
}

/** 1 for a bot `u` whose owner has no active account, else 0: its keys are refused. By primary key. */
export function isAbandoned(u: Sql): Sql {
  return sql`CASE WHEN ${u}.kind = 'bot' AND NOT EXISTS
      (SELECT 1 FROM users owner WHERE owner.id = ${u}.owner_id AND owner.disabled_at IS NULL) THEN 1 ELSE 0 END`
}

/** The title of the thread that a message of the table `m` begins; NULL for a reply. By primary key. */
export function rootTitle(m: Sql): Sql {
  return sql`CASE WHEN ${m}.parent_id IS NULL THEN (SELECT t.title FROM threads t WHERE t.root_id = ${m}.id) END`
}

/** Where the numbers of messages in the search index begin: those of older messages, which get theirs later, are below. */
export const FIRST_DOC = 2 ** 40

/** The number of the next message in the search index. PostgreSQL has it as the default of its column. */
export const NEXT_DOC = sql`(SELECT max(coalesce(max(doc), 0), ${literal(FIRST_DOC - 1)}) + 1 FROM messages
       WHERE doc IS NOT NULL)`

/** A list of words as SQL, for `IN`. The words are of the program. */
export function listOf(words: readonly string[]): Sql {
  return sql`(${join(words.map(literal), ', ')})`
}

/** Whether the messages of any erased user are being removed: a guard for subqueries that count them. */
export const SOME_ERASED = sql`EXISTS (SELECT 1 FROM erased_authors WHERE messages = 'erase')`

/** The last activity of a conversation `c`. An older program on the same database, during an upgrade, does not set it. */
export const ACTIVE_AT = sql`coalesce(c.active_at, c.created_at)`

/** Whether an identity `i` is that of the host's own authentication, and not of a sign-in provider. */
export const IS_OF_HOST = sql`i.provider = 'host' AND i.issuer = ''`

/** The host's own id of the user with this id, as a column; NULL for others. By the index of identities by user. */
export const subjectOf = (userId: Sql) =>
  sql`(SELECT min(i.subject) FROM identities i WHERE i.user_id = ${userId} AND ${IS_OF_HOST})`

/** Whether another person of a direct conversation `c`, or the system actor that has opened it, is disabled. By primary keys. */
export const isOtherDisabled = (userId: Sql) => sql`EXISTS (
    SELECT 1 FROM participants other JOIN users person ON person.id = other.user_id
     WHERE other.conversation_id = c.id AND other.user_id <> ${userId} AND person.disabled_at IS NOT NULL)
  OR EXISTS (SELECT 1 FROM users opener WHERE opener.id = c.system_id AND opener.disabled_at IS NOT NULL)`
