import { randomBytes } from 'node:crypto'
import { deriveKey } from '../core/signed-text.ts'
import type { Database, Queries } from './database.ts'
import { sql } from './sql.ts'

/** The secret of the service, if it was needed already. Writes nothing. */
export async function readSecret(db: Queries): Promise<Uint8Array | undefined> {
  const row = await db.get<{ value: string }>(sql`SELECT value FROM meta WHERE name = 'secret_key'`)
  return row && Buffer.from(row.value, 'base64')
}

/**
 * The secret of the service: 32 random bytes, made when they are needed first, and kept in the database.
 */
export async function findSecret(db: Database): Promise<Uint8Array> {
  const secret = await readSecret(db)
  if (secret !== undefined) return secret
  await db.write((tx) =>
    // Another process may make one at the same time: the first one stays.
    tx.run(
      sql`INSERT INTO meta (name, value) VALUES ('secret_key', ${randomBytes(32).toString('base64')})
        ON CONFLICT (name) DO NOTHING`,
    ),
  )
  return (await readSecret(db))!
}

/** The name of the service in what it sends to others: the same on every node, and in a copy of the database. */
export async function findServiceId(db: Database): Promise<string> {
  return Buffer.from(deriveKey(await findSecret(db), 'origin'))
    .toString('hex')
    .slice(0, 32)
}
