import { randomBytes } from 'node:crypto'
import { deriveKey } from '../core/signed-text.ts'
import type { Database, Queries } from './database.ts'
import { sql } from './sql.ts'

/** The secret that signs and encrypts where none is configured. */
const SECRET = 'secret_key'

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

/**
 * The secret of the service: 32 random bytes, made when they are needed first, and kept in the database. Not with a configured
 * one: what the database has then would be taken as a former one.
 */
export function findSecret(db: Database): Promise<Uint8Array> {
  return findBytes(db, SECRET)
}

/** The secret of the service that names its values, with a configured `security.secret_key`. Made as {@link findSecret}. */
export function findNamesSecret(db: Database): Promise<Uint8Array> {
  return findBytes(db, NAMES)
}

async function findBytes(db: Database, name: string): Promise<Uint8Array> {
  const bytes = await readBytes(db, name)
  if (bytes !== undefined) return bytes
  await db.write((tx) =>
    // Another process may make one at the same time: the first one stays.
    tx.run(
      sql`INSERT INTO meta (name, value) VALUES (${name}, ${randomBytes(32).toString('base64')})
        ON CONFLICT (name) DO NOTHING`,
    ),
  )
  return (await readBytes(db, name))!
}

/** The name of the service in what it sends to others: the same on every node, and in a copy of the database. */
export async function findServiceId(db: Database): Promise<string> {
  return Buffer.from(deriveKey(await findNamesSecret(db), 'origin'))
    .toString('hex')
    .slice(0, 32)
}
