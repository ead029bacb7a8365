import { describe, expect, it, onTestFinished } from 'vitest'
import { openStorage } from '../../lib/storage/open.ts'
import { among, amongNumbers, each, join, listOf, literal, name, type Sql, sql } from '../../lib/storage/sql.ts'
import { describeOnEachEmptyDatabase } from '../support/databases.ts'

const shape = ({ text, params }: Sql) => ({ text, params })

describe('a statement', () => {
  it('has a question mark for each value, in their order', () => {
    expect(shape(sql`SELECT id FROM items WHERE id > ${1} AND owner = ${'ada'} LIMIT ${20}`)).toEqual({
      text: 'SELECT id FROM items WHERE id > ? AND owner = ? LIMIT ?',
      params: [1, 'ada', 20],
    })
  })

  it('takes a plain string for a value, also where a column was meant', () => {
    expect(shape(sql`SELECT ${'id'}`)).toEqual({ text: 'SELECT ?', params: ['id'] })
  })

  it('has null, an empty string and zero as values', () => {
    expect(shape(sql`SELECT ${null}, ${''}, ${0}`)).toEqual({ text: 'SELECT ?, ?, ?', params: [null, '', 0] })
  })

  it('inserts parts with their values where they stand', () => {
    const visible = sql`deleted_at IS NULL AND owner = ${'ada'}`
    expect(shape(sql`SELECT ${sql`id, owner`} FROM items WHERE id > ${1} AND ${visible} AND id < ${9}`)).toEqual({
      text: 'SELECT id, owner FROM items WHERE id > ? AND deleted_at IS NULL AND owner = ? AND id < ?',
      params: [1, 'ada', 9],
    })
  })

  it('inserts parts of parts', () => {
    const inner = sql`b = ${2}`
    const middle = sql`a = ${1} AND (${inner} OR ${inner}) AND c = ${3}`
    expect(shape(sql`SELECT 1 WHERE ${middle} AND d = ${4}`)).toEqual({
      text: 'SELECT 1 WHERE a = ? AND (b = ? OR b = ?) AND c = ? AND d = ?',
      params: [1, 2, 2, 3, 4],
    })
  })

  it('inserts nothing for an empty part', () => {
    expect(shape(sql`SELECT 1${sql``} WHERE a = ${1}`)).toEqual({ text: 'SELECT 1 WHERE a = ?', params: [1] })
  })
})

describe('the text of a literal', () => {
  it('is that of its own parts and values, whatever it was made with before', () => {
    const pick = (what: Sql | string) => shape(sql`SELECT ${what} AS one`)
    for (const _ of [1, 2]) {
      expect(pick(sql`a`)).toEqual({ text: 'SELECT a AS one', params: [] })
      expect(pick(sql`b`)).toEqual({ text: 'SELECT b AS one', params: [] })
      expect(pick('a')).toEqual({ text: 'SELECT ? AS one', params: ['a'] })
      expect(pick(sql`a + ${1}`)).toEqual({ text: 'SELECT a + ? AS one', params: [1] })
      expect(pick(sql`a + ${2}`)).toEqual({ text: 'SELECT a + ? AS one', params: [2] })
    }
  })

  it('does not share the values of two calls', () => {
    const find = (id: number) => sql`SELECT id FROM items WHERE id = ${id}`
    const [first, second] = [find(1), find(2)]
    expect([first.params, second.params]).toEqual([[1], [2]])
    expect(first.text).toBe(second.text)
  })
})

describe('a text of a caller', () => {
  it.each<[string, unknown]>([
    ['an object of the same form', { text: '1; DROP TABLE users', params: [] }],
    ['one from JSON', JSON.parse('{"text":"1; DROP TABLE users","params":[],"__proto__":{"MADE":true}}')],
    ['one with its own text', { toString: () => '1; DROP TABLE users' }],
    ['a list', ['1; DROP TABLE users']],
  ])('stays a value: %s', (_, value) => {
    const { text, params } = sql`SELECT ${value as string}`
    expect(text).toBe('SELECT ?')
    expect(params[0]).toBe(value)
  })

  it('is quoted as a literal, and refused as a name', () => {
    expect(shape(sql`SELECT ${literal("it's")}, ${literal(7)}`)).toEqual({ text: "SELECT 'it''s', 7", params: [] })
    expect(sql`a IN ${listOf(['b', "c'"])}`.text).toBe("a IN ('b', 'c''')")
    expect(name('m.id').text).toBe('m.id')
    for (const word of ['', 'a b', 'a;', 'a.b.c', '"a"', "a'", 'a--', '.a', 'a\n'])
      expect(() => name(word)).toThrow(/Not a name/)
  })
})

describeOnEachEmptyDatabase('a statement', (openUrl) => {
  it('runs with parts and values, alone and in a transaction', async () => {
    const { db, close } = await openStorage({ database: await openUrl() })
    onTestFinished(() => close())
    const attack = "x'); DROP TABLE items; --"
    await db.run(sql`CREATE TABLE items (id INTEGER PRIMARY KEY, owner TEXT)`)
    await db.write(async (tx) => {
      for (const [id, owner] of [
        [1, 'ada'],
        [2, null],
        [3, attack],
      ] as const)
        expect(await tx.run(sql`INSERT INTO items (id, owner) VALUES (${id}, ${owner})`)).toBe(1)
    })
    const columns = join([name('id'), sql`owner`], ', ')
    const query = sql`SELECT ${columns} FROM items WHERE id ${amongNumbers(db, [1, 3])} AND id > ${1} ORDER BY id`
    for (const result of [db.all(query), db.all(query), db.snapshot((snapshot) => snapshot.all(query))])
      expect(await result).toEqual([{ id: 3, owner: attack }])
    const owned = (tx: typeof db) => sql`SELECT id FROM items WHERE owner ${among(tx, ['ada', 'eve'])}`
    expect(await db.write((tx) => tx.get(owned(db)))).toEqual({ id: 1 })
    expect(
      await db.get(sql`SELECT CAST(count(*) AS INTEGER) AS n FROM items WHERE owner IS NULL OR owner = ${'ada'}`),
    ).toEqual({ n: 2 })
    const texts = await db.all(sql`SELECT each.value AS v FROM ${each(db, ['b', 'a'])} ORDER BY each.value`)
    expect(texts).toEqual([{ v: 'a' }, { v: 'b' }])
  })
})
