import { randomBytes } from 'node:crypto'
import { postgresConnector } from '../storage/postgres/connector.ts'

/** A schema of its own in a PostgreSQL database, for `createTestChat` or `openStorage`. */
export interface TestSchema {
  /** The address of the database. */
  database: string
  schema: string
  /** Drops the schema with all that is in it. Close the chats on it first. */
  drop(): Promise<void>
}

/**
 * Creates an empty schema for a test. Any number of tests can share a database in this way.
 *
 * @param database `postgres://…`, with the right to create schemas
 * @throws Error when the database refuses it, or cannot be reached
 * @example
 * const { database, schema, drop } = await createTestSchema(process.env.TEST_DATABASE!)
 * const { close } = await createTestChat({ database: { database, schema } })
 * await close()
 * await drop()
 */
export async function createTestSchema(database: string): Promise<TestSchema> {
  if (!/^postgres(ql)?:\/\//.test(database))
    throw new TypeError('createTestSchema: pass the address of a PostgreSQL database: postgres://…')
  const schema = `chat_test_${randomBytes(8).toString('hex')}`
  await execute(database, `CREATE SCHEMA ${schema}`)
  return { database, schema, drop: () => execute(database, `DROP SCHEMA IF EXISTS ${schema} CASCADE`) }
}

/** On a connection of its own, so that no pool stays open. */
async function execute(url: string, sql: string): Promise<void> {
  const connector = postgresConnector({ url, max: 1 })
  try {
    await connector.exec(sql)
  } finally {
    await connector.dispose()
  }
}
