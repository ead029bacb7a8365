import { randomBytes } from 'node:crypto'
import type { Database } from './database.ts'

/**
 * The secret of the service: 32 random bytes, made when they are needed first, and kept in the database.
 */
export async function findSecret(db: Database): Promise<Uint8Array> {
  const find = async () => (await db.get<{ value: string }>("SELECT value FROM meta WHERE name = 'secret_key'"))?.value
  const known = await find()
  if (known !== undefined) return Buffer.from(known, 'base64')
  await db.write((tx) =>
    // Another process may make one at the same time: the first one stays.
    tx.run(
      "INSERT INTO meta (name, value) VALUES ('secret_key', ?) ON CONFLICT (name) DO NOTHING",
      randomBytes(32).toString('base64'),
    ),
  )
  return Buffer.from((await find())!, 'base64')
}
