/** PostgreSQL cuts names after 63 bytes; the longest one of an index has 31. */
const LONGEST_PREFIX = 30
const PREFIX = /^[a-z][a-z0-9_]*$/
const SCHEMA = /^[a-z_][a-z0-9_]*$/
const LONGEST_SCHEMA = 63

/** What is wrong with a prefix, as the end of a sentence; `undefined` if nothing is. */
export function prefixProblem(prefix: string): string | undefined {
  if (prefix.length > LONGEST_PREFIX) return `must have at most ${LONGEST_PREFIX} characters`
  if (!PREFIX.test(prefix)) return 'must have small letters, digits and _ only, and begin with a letter'
  return /^(sqlite|pg)_/.test(prefix)
    ? 'must not begin with sqlite_ or pg_, which the databases use themselves'
    : undefined
}

/** What is wrong with the name of a schema, as the end of a sentence; `undefined` if nothing is. */
export function schemaProblem(schema: string): string | undefined {
  if (schema.length > LONGEST_SCHEMA) return `must have at most ${LONGEST_SCHEMA} characters`
  if (!SCHEMA.test(schema)) return 'must have small letters, digits and _ only, and begin with a letter or _'
  return /^(pg_|information_schema$)/.test(schema) ? "is one of PostgreSQL's own" : undefined
}
