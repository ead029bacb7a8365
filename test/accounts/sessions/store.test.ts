import { describe, expect, inject, it } from 'vitest'
import { createSessionLookup } from '../../../lib/accounts/sessions/store.ts'
import { openStorage } from '../../../lib/index.ts'
import type { Queries } from '../../../lib/storage/database.ts'
import { type Sql, sql } from '../../../lib/storage/sql.ts'
import { createPostgresDatabase } from '../../support/databases.ts'

describe.skipIf(!inject('postgres_url'))('the session of a call on PostgreSQL', () => {
  it('is found by index in a new database, whose connections keep the plan while it grows', async () => {
    const database = await createPostgresDatabase()
    const storage = await openStorage({ database: database.url })
    const statements: Sql[] = []
    const all = async (statement: Sql) => {
      statements.push(statement)
      return []
    }
    try {
      await storage.migrate()
      const find = createSessionLookup({ ...storage.db, all } as Queries, sql`NULL`)
      expect(await find('digest')).toBe(undefined)
      await Promise.all([find('digest'), find('another')])
      expect(statements.length).toBe(2)
      const plan = await storage.db.all(sql`EXPLAIN ${statements[0]!}`)
      expect(JSON.stringify(plan)).toContain('sessions_token_hash_key')
      expect(JSON.stringify(plan)).not.toContain('Seq Scan')
    } finally {
      await storage.close()
      await database.remove()
    }
  })
})
