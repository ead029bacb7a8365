import { hasTable } from '../../../lib/storage/catalog.ts'
import type { Queries } from '../../../lib/storage/database.ts'
import { sql, statement } from '../../../lib/storage/sql.ts'

interface Column {
  type: string
  /** NOT NULL without a default. */
  is_required: boolean
  /** NULL, or a number of its own, in a row that does not name it. */
  is_free: boolean
}

/** What a table demands of the rows that a program writes, as the database itself describes it. */
interface Table {
  /** The description of each column. */
  columns: Map<string, Column>
  /** Keys and unique indexes, and the columns of each. */
  uniques: Map<string, string[]>
  /** Checks and references, and the columns of each. */
  rules: Map<string, string[]>
  triggers: string[]
}

/** The tables of a database by name. */
export type Structure = Map<string, Table>

/** Reads the structure of all tables. */
export async function readStructure(db: Queries): Promise<Structure> {
  const names = await db.all<{ name: string }>(
    statement(
      db.dialect === 'sqlite'
        ? "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
        : "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename",
    ),
  )
  const read = db.dialect === 'sqlite' ? readSqliteTable : readPostgresTable
  const tables: Structure = new Map()
  for (const { name } of names) if (await hasTable(db, name)) tables.set(name, await read(db, name))
  return tables
}

async function readSqliteTable(db: Queries, table: string): Promise<Table> {
  const columns = await db.all<{ name: string; type: string; notnull: number; dflt_value: string | null; pk: number }>(
    sql`SELECT name, type, "notnull", dflt_value, pk FROM pragma_table_xinfo(${table})`,
  )
  const indexes = await db.all<{ index_name: string; name: string | null; sql: string | null }>(
    sql`SELECT l.name AS index_name, i.name, m.sql FROM pragma_index_list(${table}) l, pragma_index_info(l.name) i
       LEFT JOIN sqlite_master m ON m.name = l.name WHERE l."unique" = 1`,
  )
  const keys = await db.all<{ id: number; from: string; table: string }>(
    sql`SELECT id, "from", "table" FROM pragma_foreign_key_list(${table})`,
  )
  const created = await db.get<{ sql: string }>(
    sql`SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ${table}`,
  )
  const checks = (created!.sql.match(/\bCHECK\s*\([^)]*\)/gi) ?? []).map(
    (check) => [check, check.match(/\w+/g)!] as const,
  )
  const triggers = await db.all<{ name: string }>(
    sql`SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ${table}`,
  )
  return {
    columns: new Map(
      columns.map(({ name, type, notnull, dflt_value, pk }) => [
        name,
        {
          type: `${type} ${pk}`,
          is_required: notnull === 1 && dflt_value === null,
          is_free: notnull === 0 && dflt_value === null,
        },
      ]),
    ),
    uniques: groupBy(indexes.map(({ index_name, name, sql }) => [sql ?? index_name, name ?? ''])),
    rules: new Map([
      // Its number changes when another one is added.
      ...[...groupBy(keys.map(({ id, from, table: to }) => [`${id} ${to}`, from]))].map(
        ([key, names]) => [`foreign key ${names.join()} ${key.replace(/^\d+ /, '')}`, names] as const,
      ),
      ...checks.map(
        ([check, words]) => [check, words.filter((word) => columns.some(({ name }) => name === word))] as const,
      ),
    ]),
    triggers: triggers.map(({ name }) => name),
  }
}

async function readPostgresTable(db: Queries, table: string): Promise<Table> {
  const columns = await db.all<Column & { name: string }>(
    sql`SELECT attname AS name, format_type(atttypid, atttypmod) || ' ' || attcollation AS type,
            attnotnull AND NOT atthasdef AND attidentity = '' AS is_required, NOT attnotnull AND coalesce(pg_get_expr(adbin, adrelid), 'nextval(') LIKE 'nextval(%' AS is_free
       FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
      WHERE attrelid = ${table}::regclass AND attnum > 0 AND NOT attisdropped`,
  )
  const rules = await db.all<{ rule: string; name: string | null }>(
    sql`SELECT pg_get_constraintdef(c.oid) AS rule, a.attname AS name
       FROM pg_constraint c LEFT JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = ANY (c.conkey)
      WHERE c.conrelid = ${table}::regclass AND c.contype IN ('c', 'f')`,
  )
  const indexes = await db.all<{ rule: string; name: string }>(
    sql`SELECT pg_get_indexdef(i.indexrelid) AS rule, a.attname AS name
       FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indexrelid
      WHERE i.indrelid = ${table}::regclass AND i.indisunique`,
  )
  const triggers = await db.all<{ name: string }>(
    sql`SELECT tgname AS name FROM pg_trigger WHERE tgrelid = ${table}::regclass AND NOT tgisinternal`,
  )
  return {
    columns: new Map(columns.map(({ name, ...column }) => [name, column])),
    uniques: groupBy(indexes.map(({ rule, name }) => [rule, name])),
    rules: groupBy(rules.map(({ rule, name }) => [rule, name ?? ''])),
    triggers: triggers.map(({ name }) => name),
  }
}

function groupBy(pairs: (readonly [string, string])[]): Map<string, string[]> {
  const groups = new Map<string, string[]>()
  for (const [key, value] of pairs) groups.set(key, [...(groups.get(key) ?? []), value])
  return groups
}

/**
 * What a program that knows only `before` meets in `after`: tables and columns that are not there or differ, columns that
 * it leaves out although they are required, and rules for values that it writes.
 */
export function breaksOf(before: Structure, after: Structure): string[] {
  return [...before].flatMap(([name, old]) => {
    const now = after.get(name)
    if (!now) return [`${name}: the table is dropped`]
    const isNew = (column: string) => !old.columns.has(column)
    const isFree = (column: string) => isNew(column) && now.columns.get(column)?.is_free === true
    return [
      ...[...old.columns].flatMap(([column, { type, is_required }]) => {
        const changed = now.columns.get(column)
        if (!changed) return [`${name}.${column}: the column is dropped`]
        if (changed.type !== type) return [`${name}.${column}: the type was ${type}, and is ${changed.type}`]
        return changed.is_required && !is_required ? [`${name}.${column}: it is required`] : []
      }),
      ...[...now.columns].flatMap(([column, { is_required }]) =>
        isNew(column) && is_required ? [`${name}.${column}: it is required`] : [],
      ),
      // It refuses no row of that program if it is about a column that is free in such a row, or narrower than a key.
      ...[...now.uniques].flatMap(([index, columns]) => {
        const isKeyed = [...old.uniques.values()].some((key) => key.every((column) => columns.includes(column)))
        return isKeyed || columns.some(isFree) ? [] : [`${name}: ${index}`]
      }),
      ...[...now.rules].flatMap(([rule, columns]) =>
        old.rules.has(rule) || columns.some(isFree) ? [] : [`${name}: ${rule}`],
      ),
      ...now.triggers
        .filter((trigger) => !old.triggers.includes(trigger))
        .map((trigger) => `${name}: trigger ${trigger}`),
    ]
  })
}
