import { randomBytes } from 'node:crypto'
import { deriveKey } from '../core/signed-text.ts'
import type { Database, Queries } from './database.ts'
import { among, sql } from './sql.ts'

/** The secret that signs and encrypts where none is configured. */
const SECRET = 'secret_key'

/** The secret that follows it: all processes know it before one uses it. */
const NEXT = 'next_secret_key'

/** The one before it, which still opens what it has encrypted. */
const FORMER = 'former_secret_key'

/** By which nodes compare their configurations; derived from the first secret, and kept when that is replaced. */
const VALUES = 'values_key'

/** What names the service and its values, and signs and encrypts nothing. */
const NAMES = 'names_key'

/** The secret of the service, if it was needed already. Writes nothing. */
export function readSecret(db: Queries): Promise<Uint8Array | undefined> {
  return readBytes(db, SECRET)
}

async function readBytes(db: Queries, name: string): Promise<Uint8Array | undefined> {
  const row = await db.get<{ value: string }>(sql`SELECT value FROM meta WHERE name = ${name}`)
  return row && Buffer.from(row.value, 'base64')
}

/** The secrets of the database: while the present one is replaced, also the next one, or the former one. */
export interface StoredSecrets {
  present?: Uint8Array
  next?: Uint8Array
  former?: Uint8Array
}

/** All secrets of the database, by one statement: between two, the next one may become the present one. Writes nothing. */
export async function readSecrets(db: Queries): Promise<StoredSecrets> {
  const rows = await db.all<{ name: string; value: string }>(
    sql`SELECT name, value FROM meta WHERE name ${among(db, [SECRET, NEXT, FORMER])}`,
  )
  const keys = { [SECRET]: 'present', [NEXT]: 'next', [FORMER]: 'former' }
  return Object.fromEntries(
    rows.map(({ name, value }) => [keys[name as keyof typeof keys], Buffer.from(value, 'base64')]),
  )
}

/** Adds the secret that follows the present one. */
export function insertNextSecret(tx: Queries): Promise<void> {
  return insertBytes(tx, NEXT)
}

/** Makes the next secret the present one, and that the former one. */
export async function promoteNextSecret(tx: Queries): Promise<void> {
  if ((await readBytes(tx, NEXT)) === undefined) return
  await deleteBytes(tx, FORMER)
  await renameBytes(tx, SECRET, FORMER)
  await renameBytes(tx, NEXT, SECRET)
}

export function deleteFormerSecret(tx: Queries): Promise<void> {
  return deleteBytes(tx, FORMER)
}

/** Forgets the next secret: one is configured, which is the first from now on. */
export function deleteNextSecret(tx: Queries): Promise<void> {
  return deleteBytes(tx, NEXT)
}

/** The key by which nodes compare their configurations, if the secret was replaced from which it was derived. */
export function readValuesKey(db: Queries): Promise<Uint8Array | undefined> {
  return readBytes(db, VALUES)
}

/** Keeps that key; one that is kept already stays. */
export function insertValuesKey(tx: Queries, key: Uint8Array): Promise<void> {
  return insertBytes(tx, VALUES, key)
}

async function renameBytes(tx: Queries, from: string, to: string): Promise<void> {
  await tx.run(sql`UPDATE meta SET name = ${to} WHERE name = ${from}`)
}

async function deleteBytes(tx: Queries, name: string): Promise<void> {
  await tx.run(sql`DELETE FROM meta WHERE name = ${name}`)
}

/** Another process may make one at the same time: the first one stays. */
async function insertBytes(tx: Queries, name: string, bytes: Uint8Array = randomBytes(32)): Promise<void> {
  await tx.run(
    sql`INSERT INTO meta (name, value) VALUES (${name}, ${Buffer.from(bytes).toString('base64')})
      ON CONFLICT (name) DO NOTHING`,
  )
}

/**
 * The secret of the service: 32 random bytes, made when they are needed first, and kept in the database. Not with a configured
 * one: what the database has then would be taken as a former one.
 */
export function findSecret(db: Database): Promise<Uint8Array> {
  return findBytes(db, SECRET)
}

/** The secret that names the values of the service, if it was needed already. Writes nothing. */
export function readNamesSecret(db: Queries): Promise<Uint8Array | undefined> {
  return readBytes(db, NAMES)
}

/** The secret of the service that names its values, with a configured `security.secret_key`. Made as {@link findSecret}. */
export function findNamesSecret(db: Database): Promise<Uint8Array> {
  return findBytes(db, NAMES)
}

async function findBytes(db: Database, name: string): Promise<Uint8Array> {
  const bytes = await readBytes(db, name)
  if (bytes !== undefined) return bytes
  await db.write((tx) => insertBytes(tx, name))
  return (await readBytes(db, name))!
}

/** The name of the service in what it sends to others: the same on every node, and in a copy of the database. */
export async function findServiceId(db: Database): Promise<string> {
  return Buffer.from(deriveKey(await findNamesSecret(db), 'origin'))
    .toString('hex')
    .slice(0, 32)
}
