import type { Dialect } from '../database.ts'
import { COLUMN_TYPES, MIGRATIONS } from './migrations.ts'

/** The table of the applied migrations. */
export const MIGRATIONS_TABLE = `CREATE TABLE IF NOT EXISTS migrations (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at BIGINT NOT NULL)`

/** A schema by name: its tables with their columns, and its indexes with the table of each. */
export interface Shape {
  tables: Map<string, Set<string>>
  indexes: Map<string, string>
}

/** The schema after the first `steps` migrations, read from their statements. */
export function shapeAfter(steps: number, dialect: Dialect): Shape {
  const shape: Shape = { tables: new Map(), indexes: new Map() }
  if (steps > 0) apply(shape, MIGRATIONS_TABLE)
  for (const { statements } of MIGRATIONS.slice(0, steps))
    for (const statement of statements(COLUMN_TYPES[dialect], dialect)) apply(shape, statement)
  return shape
}

/** Statements of any other kind change rows, not the schema. */
function apply({ tables, indexes }: Shape, statement: string): void {
  const [, verb, kind, name = '', rest = ''] =
    /^\s*(CREATE|ALTER|DROP)\s+(?:UNIQUE\s+|UNLOGGED\s+)?(TABLE|INDEX)\s+(?:IF (?:NOT )?EXISTS\s+)?(\w+)\s*(.*)$/is.exec(
      statement,
    ) ?? []
  switch (`${verb} ${kind}`.toUpperCase()) {
    case 'CREATE TABLE':
      tables.set(name, new Set(columnsOf(rest)))
      return
    case 'CREATE INDEX':
      indexes.set(name, /^ON\s+(\w+)/i.exec(rest)![1]!)
      return
    case 'DROP INDEX':
      indexes.delete(name)
      return
    case 'DROP TABLE':
      tables.delete(name)
      for (const [index, table] of indexes) if (table === name) indexes.delete(index)
      return
    case 'ALTER TABLE':
      alter(tables, name, rest)
  }
}

function alter(tables: Shape['tables'], table: string, change: string): void {
  const columns = tables.get(table)
  if (!columns) return
  const [, verb, column = '', to] =
    /^(ADD|DROP|RENAME)\s+(?:COLUMN\s+)?(?:IF (?:NOT )?EXISTS\s+)?(\w+)(?:\s+TO\s+(\w+))?/i.exec(change) ?? []
  if (!/^ADD$/i.test(verb ?? 'ADD')) columns.delete(column)
  if (/^ADD$/i.test(verb ?? '')) columns.add(column)
  if (to) columns.add(to)
}

/** The column names in the parentheses after `CREATE TABLE`: the first word of each line that is not a constraint. */
function columnsOf(definition: string): string[] {
  const parts = ['']
  let depth = 0
  for (const character of definition) {
    if (character === ')') depth--
    if (depth === 1 && character === ',') parts.push('')
    else if (depth > 0) parts[parts.length - 1] += character
    if (character === '(') depth++
  }
  const names = parts.map((part) => /^\s*(\w+)/.exec(part)?.[1] ?? '')
  return names.filter((name) => !/^(PRIMARY|UNIQUE|FOREIGN|CHECK|CONSTRAINT)?$/i.test(name))
}
