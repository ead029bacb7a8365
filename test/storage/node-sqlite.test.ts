import { createDatabase } from 'db0'
import nodeSqlite from 'db0/connectors/node-sqlite'
import { afterAll, describe } from 'vitest'
import { openStorage } from '../../lib/storage/open.ts'
import { createSqliteFile, type FreshDatabase } from '../support/databases.ts'
import { conformance } from './conformance.ts'
import { fileOf } from './handles.ts'

// Node >= 22.13: used if the addon of better-sqlite3 cannot be loaded.
describe.skipIf(!process.getBuiltinModule?.('node:sqlite'))('a database (node:sqlite)', () => {
  const created: FreshDatabase[] = []
  afterAll(async () => {
    await Promise.all(created.map((database) => database.remove()))
  })

  async function openUrl(): Promise<string> {
    const database = await createSqliteFile()
    created.push(database)
    return database.url
  }

  conformance(openUrl, 'sqlite', (url) =>
    openStorage({ database: createDatabase(nodeSqlite({ path: fileOf(url) })), strict: true }),
  )
})
