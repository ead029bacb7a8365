import * as v from 'valibot'
import { parseUrl } from '../core/url.ts'
import { text } from './key.ts'

/** PostgreSQL cuts names after 63 bytes; the longest one of an index has 31. */
const MAX_PREFIX_LENGTH = 30
const PREFIX = /^[a-z][a-z0-9_]*$/
const SCHEMA = /^[a-z_][a-z0-9_]*$/
const MAX_SCHEMA_LENGTH = 63

/** What is wrong with a prefix, as the end of a sentence; `undefined` if nothing is. */
export function prefixProblem(prefix: string): string | undefined {
  if (prefix.length > MAX_PREFIX_LENGTH) return `must have at most ${MAX_PREFIX_LENGTH} characters`
  if (!PREFIX.test(prefix)) return 'must have small letters, digits and _ only, and begin with a letter'
  return /^(sqlite|pg)_/.test(prefix)
    ? 'must not begin with sqlite_ or pg_, which the databases use themselves'
    : undefined
}

/** What is wrong with the name of a schema, as the end of a sentence; `undefined` if nothing is. */
export function schemaProblem(schema: string): string | undefined {
  if (schema.length > MAX_SCHEMA_LENGTH) return `must have at most ${MAX_SCHEMA_LENGTH} characters`
  if (!SCHEMA.test(schema)) return 'must have small letters, digits and _ only, and begin with a letter or _'
  return /^(pg_|information_schema$)/.test(schema) ? "is one of PostgreSQL's own" : undefined
}

const placedName = (problemOf: (name: string) => string | undefined) =>
  v.pipe(
    text,
    v.rawCheck(({ dataset, addIssue }) => {
      const message = dataset.typed && dataset.value ? problemOf(dataset.value) : undefined
      if (message) addIssue({ message })
    }),
  )

/** The name of a schema, or nothing. */
export const schemaName = placedName(schemaProblem)

/** A prefix, or nothing. */
export const prefixName = placedName(prefixProblem)

/** Whether pg can parse it; it takes a URL without a host for a socket. */
export function isDatabaseUrl(address: string): boolean {
  return address.startsWith('sqlite:') || parseUrl(address.replace('@/', '@localhost/')) !== undefined
}
