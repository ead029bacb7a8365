import { afterAll, expect, it, onTestFinished } from 'vitest'
import type { Database } from '../../../lib/storage/database.ts'
import { openStorage } from '../../../lib/storage/open.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { createSqliteFile, type FreshDatabase } from '../../support/databases.ts'
import { fileOf, openHandle } from '../handles.ts'

const select = (id: number) => sql`SELECT id, content FROM items WHERE id = ${id}`

const created: FreshDatabase[] = []
afterAll(async () => {
  await Promise.all(created.map((database) => database.remove()))
})

interface Item {
  id: number
  content: string
}

/** A database with one item, whose row is kept, and another connection to its file. */
async function openWithItem() {
  const file = await createSqliteFile()
  created.push(file)
  const { db, close } = await openStorage({ database: file.url, strict: true })
  onTestFinished(() => close())
  await db.write(async (tx) => {
    await tx.run(sql`CREATE TABLE items (id INTEGER PRIMARY KEY, content TEXT)`)
    await tx.run(sql`CREATE TABLE parts (item_id INTEGER REFERENCES items ON DELETE CASCADE)`)
    await tx.run(sql`INSERT INTO items (id, content) VALUES (1, 'old')`)
  })
  const recall = (id = 1) => db.recall!<Item>(select(id))
  const row = await recall()
  const other = await openHandle(fileOf(file.url))
  onTestFinished(() => other.close())
  return { db, other, recall, row }
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

it('returns the same frozen row in later turns while nothing is written', async () => {
  const { recall, row } = await openWithItem()
  await nextTurn()
  expect(await recall()).toBe(row)
  expect(row).toEqual({ id: 1, content: 'old' })
  expect(() => Object.assign(row!, { content: 'mine' })).toThrow(TypeError)
})

it.each([
  ['changes it', "UPDATE items SET content = 'new' WHERE id = 1", { id: 1, content: 'new' }],
  ['deletes it', 'DELETE FROM items WHERE id = 1', undefined],
  ['deletes all', 'DELETE FROM items', undefined],
])('reads a row again once another connection %s', async (_, sql, expected) => {
  const { other, recall } = await openWithItem()
  await nextTurn()
  other.exec(sql)
  expect(await recall()).toEqual(expected)
})

it.each<[string, (db: Database) => Promise<unknown>]>([
  ['a write', (db) => db.write((tx) => tx.run(sql`UPDATE items SET content = 'new'`))],
  ['a statement', (db) => db.run(sql`UPDATE items SET content = 'new'`)],
  ['a write that returns rows', (db) => db.write((tx) => tx.all(sql`UPDATE items SET content = 'new' RETURNING id`))],
])('reads a row again after %s of its own, also in the same turn', async (_, change) => {
  const { db, recall } = await openWithItem()
  await recall()
  await change(db)
  expect(await recall()).toEqual({ id: 1, content: 'new' })
})

it('keeps no change that is rolled back', async () => {
  const { db, recall } = await openWithItem()
  const failed = db.write(async (tx) => {
    await tx.run(sql`UPDATE items SET content = 'new'`)
    expect(await tx.get(select(1))).toEqual({ id: 1, content: 'new' })
    throw new Error('no')
  })
  // Waits for the end of the transaction.
  const during = recall()
  await expect(failed).rejects.toThrow('no')
  expect([await during, await recall()]).toEqual([
    { id: 1, content: 'old' },
    { id: 1, content: 'old' },
  ])
})

it('sees a commit between two of its own writes', async () => {
  const { db, other, recall } = await openWithItem()
  await db.write((tx) => tx.run(sql`UPDATE items SET content = 'first'`))
  other.exec("UPDATE items SET content = 'elsewhere'")
  await db.write((tx) => tx.run(sql`INSERT INTO parts (item_id) VALUES (1)`))
  expect(await recall()).toEqual({ id: 1, content: 'elsewhere' })
})

it('does not remember that a row is missing', async () => {
  const { other, recall } = await openWithItem()
  expect(await recall(2)).toBeUndefined()
  await nextTurn()
  other.exec("INSERT INTO items (id, content) VALUES (2, 'second')")
  expect(await recall(2)).toEqual({ id: 2, content: 'second' })
})

it('reads the row of one state together with all other reads of a turn', async () => {
  const { db, other, recall } = await openWithItem()
  await nextTurn()
  const first = db.get<Item>(select(1))
  other.exec("UPDATE items SET content = 'new'")
  expect([(await first)!.content, (await recall())!.content]).toEqual(['old', 'old'])
  await nextTurn()
  expect((await recall())!.content).toBe('new')
})

it('is not part of transactions, which read what they have written', async () => {
  const { db } = await openWithItem()
  await db.write(async (tx) => expect(tx.recall).toBeUndefined())
  await db.snapshot(async (snapshot) => expect(snapshot.recall).toBeUndefined())
  await expect(db.write(() => db.recall!(select(1)))).rejects.toThrow(/outer database/)
})
