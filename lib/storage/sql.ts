import type { Dialect, Primitive } from './database.ts'

/** Microseconds since 1970, whole numbers up to 2^53. */
export type Micros = number

/** `… IN ${listOf(db.dialect)}`: any number of texts as one parameter, `jsonList(values)`. */
export function listOf(dialect: Dialect): string {
  return dialect === 'sqlite'
    ? '(SELECT value FROM json_each(?))'
    : '(SELECT value FROM jsonb_array_elements_text(?::jsonb) AS list(value))'
}

/** The parameter that goes with {@link listOf}. */
export function jsonList(values: Iterable<string>): Primitive {
  return JSON.stringify([...values])
}

/** The larger of two numbers: `max` of SQLite, `greatest` of PostgreSQL. */
export function greatest(dialect: Dialect): string {
  return dialect === 'sqlite' ? 'max' : 'greatest'
}
