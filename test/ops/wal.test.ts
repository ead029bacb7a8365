import { statSync } from 'node:fs'
import { afterAll, expect, it } from 'vitest'
import { checkWal } from '../../lib/ops/wal.ts'
import { openStorage } from '../../lib/storage/open.ts'
import { sql } from '../../lib/storage/sql.ts'
import { WAL_BYTES } from '../../lib/storage/sqlite/file.ts'
import { fileOf, openHandle } from '../storage/handles.ts'
import { createSqliteFile } from '../support/databases.ts'

const database = await createSqliteFile()
afterAll(database.remove)

it('warns while another process keeps a read open, and truncates the WAL afterwards', async () => {
  const { db, close } = await openStorage({ database: database.url })
  const warnings: unknown[] = []
  const silent = { debug() {}, info() {}, error() {} }
  const log = { ...silent, warn: (_: string, fields?: object) => void warnings.push(fields) }
  await db.run(sql`CREATE TABLE items (content TEXT)`)
  const other = await openHandle(fileOf(database.url))
  other.exec('BEGIN')
  other.prepare('SELECT count(*) FROM items').get()

  const fill = () => db.run(sql`INSERT INTO items (content) VALUES (zeroblob(${WAL_BYTES / 2}))`)
  await fill()
  await checkWal({ db, log })
  expect(warnings).toEqual([])
  await fill()
  await fill()
  await checkWal({ db, log })
  const { size } = statSync(`${fileOf(database.url)}-wal`)
  expect(warnings).toEqual([{ cause: `It has ${size} bytes` }])

  other.exec('COMMIT')
  other.close()
  // The first write checkpoints all of it, the second restarts the file.
  for (const content of ['one', 'two']) await db.run(sql`INSERT INTO items (content) VALUES (${content})`)
  await checkWal({ db, log })
  expect(warnings).toHaveLength(1)
  expect(statSync(`${fileOf(database.url)}-wal`).size).toBeLessThanOrEqual(WAL_BYTES)
  await close()
})
