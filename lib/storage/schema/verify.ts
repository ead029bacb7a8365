import type { Database, Queries } from '../database.ts'
import { isSearchTable } from '../search-tables.ts'
import { among, sql } from '../sql.ts'
import { MIGRATIONS } from './migrations.ts'
import { type Shape, shapeAfter } from './shape.ts'

/** An object of a database: a table, a view, an index, a trigger, a rule. */
interface Thing {
  kind: string
  name: string
  /** The table of an index, a trigger or a rule. */
  on: string | null
  /** Whether the name, or that of its table, is one that the service's tables may have. */
  is_named_ours: boolean
}

/** The number of differences that an error names. */
const MAX_EXAMPLES = 5

/**
 * The differences between the database and the applied migrations, as texts; those of missing objects start with "no ".
 * Objects of a host under other names are ignored.
 */
export async function listChanges(db: Queries): Promise<string[]> {
  const things = (await listThings(db)).filter((thing) => thing.is_named_ours)
  const all = shapeAfter(MIGRATIONS.length, db.dialect)
  const columns = await listColumns(db, [...all.tables.keys()])
  const steps = await countSteps(db, columns)
  // The schema of a newer program is refused as such.
  if (steps > MIGRATIONS.length) return []
  const shape = shapeAfter(steps, db.dialect)
  return [
    ...things.flatMap((thing) => judge(thing, shape, all, shownAs(db))),
    ...missing(shape, things, shownAs(db)),
    ...[...shape.tables].flatMap(([table, names]) => judgeColumns(shownAs(db)(table), names, columns.get(table))),
  ]
}

/** The name of a table or an index as the database has it. */
const shownAs = (db: Queries) => (name: string) => db.names?.inCatalog(name) ?? name

type ShownAs = ReturnType<typeof shownAs>

/** @throws Error when the tables differ from those that chat-server creates */
export async function assertOurs(db: Database): Promise<void> {
  const [changes, isNew] = await db.snapshot(async (snapshot) => [await listChanges(snapshot), await isEmpty(snapshot)])
  if (changes.length === 0) return
  if (isNew) throw clash(db, changes)
  throw new Error(
    `The database is not as chat-server has made it: ${listed(changes)}. Undo that, or "chat-server export" it and import it into a new one`,
  )
}

/** @throws Error when a database without the service's tables has others with their names */
export async function assertNoClash(db: Database): Promise<void> {
  const changes = await db.snapshot(async (snapshot) => ((await isEmpty(snapshot)) ? listChanges(snapshot) : []))
  if (changes.length > 0) throw clash(db, changes)
}

function clash(db: Queries, changes: string[]): Error {
  const remedies =
    db.dialect === 'sqlite'
      ? 'database.prefix, such as "chat_", or a file of its own with database.url'
      : 'a schema of its own with database.schema, such as "chat", or database.prefix, such as "chat_"'
  const objects = changes.filter((change) => !/^the (trigger|rule) /.test(change))
  return new Error(`Another program has ${listed(objects)} in this database: give chat-server ${remedies}`)
}

/** Whether no migration of the service was applied: what has its names belongs to another program. */
async function isEmpty(db: Queries): Promise<boolean> {
  return (await countSteps(db, await listColumns(db, ['migrations']))) === 0
}

/** @throws Error when a SQLite file contains objects that are not chat-server's */
export async function assertAlone(db: Queries): Promise<void> {
  // An older schema may have tables that a later migration drops.
  const steps = await countSteps(db, await listColumns(db, ['migrations']))
  const { tables } = shapeAfter(steps || MIGRATIONS.length, db.dialect)
  const foreign = (await listThings(db)).filter(
    ({ name, on, is_named_ours }) => !is_named_ours || !tables.has(on ?? name),
  )
  if (foreign.length === 0) return
  const names = foreign.map(({ kind, name }) => `the ${kind} ${name}`)
  throw new Error(
    `The file holds more than chat-server: ${listed(names)}. Copies of a whole file are for one of its own: use "chat-server export" and import`,
  )
}

function judge({ kind, name, on }: Thing, expected: Shape, all: Shape, shown: ShownAs): string[] {
  const isIndex = kind.endsWith('index')
  if (on !== null && !isIndex) return all.tables.has(on) ? [`the ${kind} ${name} on ${shown(on)}`] : []
  if (all.tables.has(name)) return kind === 'table' && expected.tables.has(name) ? [] : [`the ${kind} ${shown(name)}`]
  // A later migration may drop an index of these.
  if (expected.indexes.has(name) || all.indexes.has(name))
    return isIndex && expected.indexes.get(name) === on ? [] : [`the ${kind} ${shown(name)}`]
  // An additional index only makes queries faster; a unique one could refuse valid rows.
  return kind === 'unique index' && all.tables.has(on ?? '') ? [`the unique index ${name} on ${shown(on!)}`] : []
}

function missing(expected: Shape, things: Thing[], shown: ShownAs): string[] {
  const names = new Set(things.map(({ name }) => name))
  const without = (kind: string, wanted: Iterable<string>) =>
    [...wanted].filter((name) => !names.has(name)).map((name) => `no ${kind} ${shown(name)}`)
  return [...without('table', expected.tables.keys()), ...without('index', expected.indexes.keys())]
}

function judgeColumns(table: string, expected: Set<string>, actual: Set<string> | undefined): string[] {
  if (!actual) return []
  const more = [...actual].filter((name) => !expected.has(name)).map((name) => `the column ${name} of ${table}`)
  const fewer = [...expected].filter((name) => !actual.has(name)).map((name) => `no column ${name} of ${table}`)
  return [...more, ...fewer]
}

/** The number of applied migrations; a table of that name that belongs to another program does not count. */
async function countSteps(db: Queries, columns: Map<string, Set<string>>): Promise<number> {
  if (!columns.get('migrations')?.has('checksum')) return 0
  return (await db.get<{ total: number }>(sql`SELECT count(*) AS total FROM migrations`))!.total
}

/** Names of tables and indexes without the prefix, if they have it. */
async function listThings(db: Queries): Promise<Thing[]> {
  const things = await db.all<Omit<Thing, 'is_named_ours'>>(db.dialect === 'sqlite' ? SQLITE_THINGS : POSTGRES_THINGS)
  const plain = (name: string) => (db.names ? db.names.fromCatalog(name) : name)
  const isOfSearch = ({ kind, name }: (typeof things)[number]) =>
    db.dialect === 'sqlite' && kind === 'table' && isSearchTable(plain(name) ?? name)
  const others = things.filter((thing) => !isOfSearch(thing))
  return others.map(({ kind, name, on }) => {
    const isAttached = on !== null && !kind.endsWith('index')
    return {
      kind,
      name: (isAttached ? undefined : plain(name)) ?? name,
      on: on === null ? null : (plain(on) ?? on),
      is_named_ours: plain(on ?? name) !== undefined,
    }
  })
}

// SQLite's names are case-insensitive, and its own objects start with `sqlite_`.
const SQLITE_THINGS = sql`SELECT CASE WHEN sql LIKE 'CREATE UNIQUE%' THEN 'unique index' ELSE type END AS kind,
    lower(name) AS name, CASE WHEN type IN ('index', 'trigger') THEN lower(tbl_name) END AS "on"
  FROM sqlite_master WHERE name NOT LIKE 'sqlite!_%' ESCAPE '!' ORDER BY 2`

const HERE = sql`(SELECT oid FROM pg_namespace WHERE nspname = current_schema())`

// Partitioned tables, sequences and types have other names, and do not conflict with the service's.
const POSTGRES_THINGS = sql`SELECT CASE WHEN c.relkind = 'r' THEN 'table' WHEN c.relkind IN ('v', 'm') THEN 'view'
      WHEN x.indisunique AND NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conindid = c.oid) THEN 'unique index'
      WHEN c.relkind = 'i' THEN 'index' ELSE 'relation' END AS kind, c.relname::text AS name, t.relname::text AS "on"
    FROM pg_class c LEFT JOIN pg_index x ON x.indexrelid = c.oid LEFT JOIN pg_class t ON t.oid = x.indrelid
   WHERE c.relnamespace = ${HERE}
  UNION ALL SELECT 'trigger', g.tgname::text, t.relname::text FROM pg_trigger g JOIN pg_class t ON t.oid = g.tgrelid
   WHERE NOT g.tgisinternal AND t.relnamespace = ${HERE}
  UNION ALL SELECT 'rule', r.rulename::text, t.relname::text FROM pg_rewrite r JOIN pg_class t ON t.oid = r.ev_class
   WHERE r.rulename <> '_RETURN' AND t.relnamespace = ${HERE}
   ORDER BY 2`

async function listColumns(db: Queries, tables: string[]): Promise<Map<string, Set<string>>> {
  const isWanted = among(db, tables.map(shownAs(db)))
  const query =
    db.dialect === 'sqlite'
      ? sql`SELECT lower(m.name) AS "table", lower(p.name) AS name, p.hidden <> 0 AS computed
           FROM sqlite_master m JOIN pragma_table_xinfo(m.name) p
          WHERE m.type = 'table' AND lower(m.name) ${isWanted}`
      : sql`SELECT c.relname::text AS "table", a.attname::text AS name, (a.attgenerated <> '')::int AS computed
           FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
          WHERE c.relnamespace = ${HERE} AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
            AND c.relname ${isWanted}`
  const rows = await db.all<{ table: string; name: string; computed: number }>(query)
  const columns = new Map<string, Set<string>>()
  for (const { table: shown, name, computed } of rows) {
    const table = db.names?.fromCatalog(shown) ?? shown
    const names = columns.get(table) ?? new Set()
    columns.set(table, names.add(computed ? `${name} (computed)` : name))
  }
  return columns
}

function listed(names: string[]): string {
  const more = names.length - MAX_EXAMPLES
  return names.slice(0, MAX_EXAMPLES).join(', ') + (more > 0 ? ` and ${more} more` : '')
}
