import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { openStorage, type StorageOptions } from '../../lib/storage/open.ts'
import { sql } from '../../lib/storage/sql.ts'
import { createPostgresDatabase } from '../support/databases.ts'
import { times } from '../support/service.ts'

describe.skipIf(!inject('postgres_url'))('the connections of PostgreSQL', () => {
  async function open(options: StorageOptions) {
    const { url, remove } = await createPostgresDatabase()
    const { db } = await openStorage({ database: url, ...options })
    onTestFinished(() => db.close().then(remove))
    return db
  }

  it('are at most as many as configured, however much waits for one', async () => {
    const db = await open({ pool_size: 3, application_name: 'three' })
    const counts = await Promise.all(
      times(30, () =>
        db.get<{ n: number }>(sql`SELECT count(*) AS n FROM pg_stat_activity WHERE application_name = 'three'`),
      ),
    )
    expect(Math.max(...counts.map((row) => row!.n))).toBe(3)
  })

  it.each([
    [true, 1],
    [false, 0],
  ])('with prepared_statements = %s prepare a statement %i times', async (prepared_statements, expected) => {
    const db = await open({ pool_size: 2, prepared_statements })
    const count = await db.write(async (tx) => {
      for (let n = 0; n < 3; n++) await tx.get(sql`SELECT CAST(${n} AS BIGINT) + 1 AS n`)
      return tx.get(sql`SELECT count(*) AS n FROM pg_prepared_statements WHERE statement LIKE 'SELECT CAST%'`)
    })
    expect(count).toEqual({ n: expected })
  })
})
