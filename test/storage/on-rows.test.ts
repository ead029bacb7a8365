import { expect, it, onTestFinished } from 'vitest'
import { onRows } from '../../lib/storage/on-rows.ts'
import { openStorage } from '../../lib/storage/open.ts'
import { sql } from '../../lib/storage/sql.ts'
import { describeOnEachEmptyDatabase } from '../support/databases.ts'

const COLUMNS = { id: 'bigint', owner: 'text' } as const
const ROWS = [
  { id: 1, owner: 'ada' },
  { id: 2, owner: null },
  { id: 3, owner: "x'); DROP TABLE items; --" },
]

const INSERT = onRows<(typeof ROWS)[number]>(
  COLUMNS,
  (given) => sql`INSERT INTO items (id, owner, again) SELECT id, owner, id FROM ${given}`,
  { alone: ({ id, owner }) => sql`INSERT INTO items (id, owner, again) VALUES (${id}, ${owner}, ${id})` },
)
const FIND = onRows<{ id: number }>(
  { id: 'bigint' },
  (given) => sql`SELECT items.id, owner, again FROM ${given} JOIN items ON items.id = given.id ORDER BY items.id`,
)

describeOnEachEmptyDatabase('a statement on rows', (openUrl) => {
  it('runs on each of them, with its values where they stand, also more than once', async () => {
    const { db, close } = await openStorage({ database: await openUrl() })
    onTestFinished(() => close())
    await db.run(sql`CREATE TABLE items (id BIGINT PRIMARY KEY, owner TEXT, again BIGINT)`)
    await db.write((tx) => INSERT.run(tx, ROWS))
    expect(await FIND.all(db, ROWS)).toEqual(ROWS.map((row) => ({ ...row, again: row.id })))
    expect(await FIND.all(db, [])).toEqual([])
  })
})
