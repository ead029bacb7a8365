import { ChatError } from '../../core/errors.ts'
import { digest, newId } from '../../core/ids.ts'
import { retry } from '../../core/scheduling/deadline.ts'
import { toInstant } from '../../core/time.ts'
import { hasTable } from '../catalog.ts'
import type { Database, Dialect, Queries } from '../database.ts'
import { isBusy } from '../errors.ts'
import { databaseNow, sql, statement } from '../sql.ts'
import { COLUMN_TYPES, MAJOR, MIGRATIONS, type Migration } from './migrations.ts'
import { MIGRATIONS_TABLE } from './shape.ts'
import { assertNoClash } from './verify.ts'

/** A migration and when it was applied; absent while it is pending. */
export interface MigrationState {
  name: string
  applied_at?: string
  /** `newer`: this program does not know it. `changed`: it was applied with other statements. */
  differs?: 'newer' | 'changed'
}

/** What is called during the migration. */
export interface MigrateOptions {
  /** Called once when it takes long, here or in another process that this one waits for. */
  onLong?: () => void
  /** Called after each step. */
  onStep?: (name: string) => void
}

/** The version of the schema of this program. */
export const SCHEMA_VERSION = `${MAJOR}.${MIGRATIONS.length}`

/** Any number: the holder of this lock migrates, on PostgreSQL. On SQLite the write lock is used. */
const MIGRATION_LOCK = 7_201_994

/**
 * How long a migration waits on SQLite for another process that applies it, longer than any other write waits for a
 * lock. On PostgreSQL it waits until that process has finished or has died.
 */
const LOCK_TIMEOUT_MS = 60_000

/** The wait after which `onLong` is called. */
const LONG_MS = 5_000

/**
 * Applies the pending migrations, each in its own transaction. Several processes may do so at once.
 *
 * @returns the names of the applied migrations, oldest first
 * @throws Error when other programs have tables of the same names; when the schema has another major version; when an
 *   applied migration differs from this program's
 */
export async function migrate(db: Database, options: MigrateOptions = {}): Promise<string[]> {
  await assertNoClash(db)
  const applied: string[] = []
  const timer = setTimeout(() => options.onLong?.(), LONG_MS).unref()
  try {
    for (const { id, migration } of await listPending(db)) {
      if (!(await applyWithRetries(db, id, migration))) continue
      applied.push(migration.name)
      options.onStep?.(migration.name)
    }
  } finally {
    clearTimeout(timer)
  }
  return applied
}

/** The migrations that are left, with their numbers: a start on a migrated database writes nothing. */
async function listPending(db: Database): Promise<{ id: number; migration: Migration }[]> {
  const all = MIGRATIONS.map((migration, index) => ({ id: index + 1, migration }))
  if (!(await hasTable(db, 'migrations'))) return all
  const applied = new Set((await assertKnown(db)).map(({ id }) => id))
  return all.filter(({ id }) => !applied.has(id))
}

function applyWithRetries(db: Database, id: number, migration: Migration): Promise<boolean> {
  const apply = () => db.write((tx) => applyOnce(tx, id, migration), { timeout: false })
  return retry(apply, { ms: LOCK_TIMEOUT_MS, pause_ms: 0, mayPass: isLocked })
}

/** Whether another process held the lock of a SQLite file for longer than a write waits. */
function isLocked(error: unknown): boolean {
  return error instanceof ChatError && isBusy(error.cause)
}

/** The migrations this program knows, oldest first, and those applied by a newer one. */
export async function listMigrations(db: Database): Promise<MigrationState[]> {
  const applied = (await hasTable(db, 'migrations')) ? await listApplied(db) : []
  const migrations = MIGRATIONS.map((migration) => {
    const row = applied.find((candidate) => candidate.name === migration.name)
    if (!row) return { name: migration.name }
    const isChanged = row.checksum !== toChecksum(migration, db.dialect)
    return { name: row.name, applied_at: toInstant(row.applied_at), ...(isChanged && { differs: 'changed' as const }) }
  })
  const newer = applied.filter(({ id }) => id > MIGRATIONS.length)
  return [
    ...migrations,
    ...newer.map((row) => ({ name: row.name, applied_at: toInstant(row.applied_at), differs: 'newer' as const })),
  ]
}

/** @throws Error as {@link migrate} does, and when a migration is pending */
export async function assertMigrated(db: Database): Promise<void> {
  const pending = (await listMigrations(db)).filter((step) => !step.applied_at)
  if (pending.length > 0)
    throw new Error(`The schema is older than this program: run "chat-server migrate" (${pending[0]!.name} is pending)`)
  await assertKnown(db)
}

/** @throws Error when a migration was applied that this program does not know: it would leave out what that added */
export async function assertExact(db: Database): Promise<void> {
  const newer = (await listApplied(db)).find(({ id }) => id > MIGRATIONS.length)
  if (newer) throw new Error(`The schema (${newer.name}) is newer than this program: use the newer version for this`)
}

/** @throws Error when the schema is not chat-server's, or of another major version */
export async function assertMigratable(db: Database): Promise<void> {
  if (!(await hasTable(db, 'migrations'))) throw new Error('This is not a database of chat-server')
  await assertKnown(db)
}

async function applyOnce(tx: Queries, id: number, migration: Migration): Promise<boolean> {
  if (tx.dialect === 'postgresql') await tx.get(sql`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`)
  if (tx.names?.schema) await createSchema(tx, tx.names.schema)
  await tx.run(statement(MIGRATIONS_TABLE))
  if ((await assertKnown(tx)).some((applied) => applied.id === id)) return false

  for (const text of migration.statements(COLUMN_TYPES[tx.dialect], tx.dialect)) await tx.run(statement(text))
  if (id === 1) await tx.run(sql`INSERT INTO meta (name, value) VALUES ('epoch', ${newId()})`)
  if (migration.major) {
    await tx.run(sql`DELETE FROM meta WHERE name = 'schema_major'`)
    await tx.run(sql`INSERT INTO meta (name, value) VALUES ('schema_major', ${String(migration.major)})`)
  }
  await tx.run(
    sql`INSERT INTO migrations (id, name, checksum, applied_at)
      VALUES (${id}, ${migration.name}, ${toChecksum(migration, tx.dialect)}, ${databaseNow(tx.dialect)})`,
  )
  return true
}

/** The right to create schemas is not needed for one that an administrator has created. */
async function createSchema(tx: Queries, schema: string): Promise<void> {
  const exists = await tx.get(sql`SELECT nspname FROM pg_namespace WHERE nspname = ${schema}`)
  if (!exists) await tx.run(statement(`CREATE SCHEMA "${schema}"`))
}

/** The checksums of this program: each step of a migration compares those of all that are applied. */
const CHECKSUMS: Record<Dialect, WeakMap<Migration, string>> = { sqlite: new WeakMap(), postgresql: new WeakMap() }

/** What a database stores of an applied migration. */
export function toChecksum(migration: Migration, dialect: Dialect): string {
  const known = CHECKSUMS[dialect].get(migration)
  if (known !== undefined) return known
  const checksum = digest(migration.statements(COLUMN_TYPES[dialect], dialect).join(';\n'))
  CHECKSUMS[dialect].set(migration, checksum)
  return checksum
}

/** @returns the applied migrations */
async function assertKnown(db: Queries): Promise<AppliedMigration[]> {
  const applied = await listApplied(db)
  const newest = applied.at(-1)
  const major = newest ? await readMajor(db) : MAJOR
  if (newest && major > MAJOR) {
    throw new Error(
      `The schema (${newest.name}, version ${major}.${applied.length}) is newer than this program can use (${SCHEMA_VERSION}): install the newer version, or restore the copy made before its migration`,
    )
  }
  if (newest && newest.id > MIGRATIONS.length && applied.length < newest.id)
    throw new Error(`The schema (${newest.name}) lacks migrations of before: restore a backup`)
  for (const { id, name, checksum } of applied) {
    const migration = MIGRATIONS[id - 1]
    if (migration && checksum !== toChecksum(migration, db.dialect))
      throw new Error(
        `Migration ${name} is not the one this database was made with: use the version of chat-server that made it`,
      )
  }
  return applied
}

/** The version of the schema of a database; `null` if it has none. */
export async function findSchemaVersion(db: Database): Promise<string | null> {
  if (!(await hasTable(db, 'migrations'))) return null
  const { length } = await listApplied(db)
  return length > 0 ? `${await readMajor(db)}.${length}` : null
}

/** Every database has at least version 1. */
async function readMajor(db: Queries): Promise<number> {
  const row = await db.get<{ value: string }>(sql`SELECT value FROM meta WHERE name = 'schema_major'`)
  return Number(row?.value ?? 1)
}

interface AppliedMigration {
  id: number
  name: string
  checksum: string
  applied_at: number
}

function listApplied(db: Queries): Promise<AppliedMigration[]> {
  return db.all<AppliedMigration>(sql`SELECT id, name, checksum, applied_at FROM migrations ORDER BY id`)
}
