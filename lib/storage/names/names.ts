import { createHash } from 'node:crypto'
import { prefixProblem, schemaProblem } from '../../config/placement.ts'
import { COLUMN_TYPES, MIGRATIONS } from '../schema/migrations.ts'
import { isSearchTable } from '../search-tables.ts'
import { qualify } from './qualify.ts'

/** Where the tables of a service are: in a schema of PostgreSQL, and behind a prefix. */
export interface Placement {
  /** PostgreSQL: the schema of the tables; it is created if it does not exist. Default: the first of the `search_path`. */
  schema?: string | undefined
  /** What the names of tables and indexes begin with, such as `chat_`. Default: nothing. */
  prefix?: string | undefined
}

/** The names of a schema in a database in which they are not the plain ones. */
export interface Names {
  /** The schema of PostgreSQL, if one is set. */
  readonly schema: string | undefined
  readonly prefix: string
  /** Rewrites a statement of the stores. It is not cached. */
  qualify(sql: string): string
  /** The name of a table or an index in the catalog of the database: `chat_users`. */
  inCatalog(name: string): string
  /** The name of a table as statements use it: `"chat".chat_users`. */
  inStatement(table: string): string
  /** The plain name of a table or an index in the catalog; `undefined` if the prefix shows that it is not the service's. */
  fromCatalog(name: string): string | undefined
}

/**
 * The names of the service's tables and indexes. `undefined` if they are the plain ones.
 *
 * @throws Error for a schema or prefix that cannot be used
 */
export function createNames({ schema = '', prefix = '' }: Placement): Names | undefined {
  if (!schema && !prefix) return undefined
  refuse('prefix', prefix && prefixProblem(prefix))
  refuse('schema', schema && schemaProblem(schema))
  const tables = allTables()
  // Quoted: it may be a word of SQL, such as `user`. A prefixed name is none.
  const path = schema ? `"${schema}".` : ''
  const spelling = {
    isTable: (word: string) => tables.has(word) || isSearchTable(word),
    prefix,
    path,
    schema: schema ? `'${schema}'` : undefined,
    lock: createHash('sha256').update(`${schema}/${prefix}`).digest().readInt32BE(),
  }
  return {
    schema: schema || undefined,
    prefix,
    qualify: (sql) => qualify(sql, spelling),
    inCatalog: (name) => prefix + name,
    inStatement: (table) => path + prefix + table,
    fromCatalog: (name) => (name.startsWith(prefix) ? name.slice(prefix.length) : undefined),
  }
}

function refuse(name: string, problem: string | undefined): void {
  if (problem) throw new Error(`openStorage: ${name} ${problem}`)
}

/** Every table and sequence that some migration creates, also those that a later one drops. */
function allTables(): Set<string> {
  const tables = new Set(['migrations'])
  for (const { statements } of MIGRATIONS)
    for (const dialect of ['sqlite', 'postgresql'] as const)
      for (const statement of statements(COLUMN_TYPES[dialect], dialect)) {
        const name = /^\s*CREATE (?:(?:UNLOGGED )?TABLE|SEQUENCE) (\w+)/.exec(statement)?.[1]
        if (name) tables.add(name)
      }
  return tables
}
