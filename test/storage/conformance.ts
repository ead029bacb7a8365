import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { ChatError } from '../../lib/core/errors.ts'
import type { Database, Dialect, Queries } from '../../lib/storage/database.ts'
import { openStorage, type Storage } from '../../lib/storage/open.ts'
import { COLUMN_TYPES } from '../../lib/storage/schema/migrations.ts'
import { sql, statement } from '../../lib/storage/sql.ts'
import { codeOf, times } from '../support/service.ts'
import { promised } from './handles.ts'

const INSERT = 'INSERT INTO items (id, name) VALUES (?, ?)'

/** The requirements of every database. `open` opens the one at a URL, with a connection of its own. */
export function conformance(
  openUrl: () => Promise<string>,
  dialect: Dialect,
  open: (url: string) => Promise<Storage> = (url) => openStorage({ database: url, strict: true }),
): void {
  // Tests have their own table in a common database: creating one takes PostgreSQL longer than all tests.
  let url: string
  beforeAll(async () => {
    url = await openUrl()
  })

  /** The database with an empty table `items`, and a function that opens it once more. */
  async function openItems(whenDone: (close: () => Promise<void>) => void = onTestFinished) {
    const again = async () => {
      const { db } = await open(url)
      whenDone(() => db.close())
      return db
    }
    const db = await again()
    await db.run(sql`DROP TABLE IF EXISTS items`)
    await db.write((tx) =>
      tx.run(
        statement(`CREATE TABLE items (
        id BIGINT PRIMARY KEY, name ${COLUMN_TYPES[dialect].key} UNIQUE, amount BIGINT NOT NULL DEFAULT 0, content TEXT)`),
      ),
    )
    return { db, again }
  }

  describe('Queries', () => {
    it.each([
      ['outside', (db: Database, work: (queries: Queries) => Promise<void>) => work(db)],
      ['in a transaction', (db: Database, work: (queries: Queries) => Promise<void>) => db.write(work)],
    ])('reads, and counts the rows it changes, %s', async (_, within) => {
      const { db } = await openItems()
      await within(db, async (queries) => {
        expect(queries.dialect).toBe(dialect)
        expect(await queries.all(sql`SELECT id FROM items`)).toEqual([])
        expect(await queries.get(sql`SELECT id FROM items`)).toBeUndefined()
        expect(await queries.run(statement(INSERT, [1, 'a']))).toBe(1)
        expect(await queries.run(sql`INSERT INTO items (id, name) VALUES (${2}, ${'b'}), (${3}, ${null})`)).toBe(2)
        expect(await queries.all(sql`SELECT id, name FROM items ORDER BY id`)).toEqual([
          { id: 1, name: 'a' },
          { id: 2, name: 'b' },
          { id: 3, name: null },
        ])
        expect(await queries.get(sql`SELECT name FROM items WHERE id = ${2}`)).toEqual({ name: 'b' })
        expect(await queries.run(sql`UPDATE items SET amount = 7 WHERE id > ${1}`)).toBe(2)
        expect(await queries.run(sql`UPDATE items SET amount = 7 WHERE id > ${3}`)).toBe(0)
        expect(await queries.all(sql`DELETE FROM items WHERE id = ${3} RETURNING amount`)).toEqual([{ amount: 7 }])
        expect(await queries.run(sql`DELETE FROM items`)).toBe(2)
      })
    })

    it('orders keys by their bytes', async () => {
      const { db } = await openItems()
      const names = ['a', 'B', 'Z', '_', '-', '10', '9', 'é', 'e\u0301', 'z', 'ab', 'a b', '\uFFFD', '😀', '']
      await Promise.all(names.map((name, id) => db.run(statement(INSERT, [id, name]))))
      const rows = await db.all<{ name: string }>(sql`SELECT name FROM items ORDER BY name`)
      expect(rows.map((row) => row.name)).toEqual(
        names.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
      )
      expect(await db.get(sql`SELECT count(*) AS n FROM items WHERE name > 'Z' AND name < 'a'`)).toEqual({ n: 1 })
    })
  })

  describe('a value', () => {
    let db: Database
    let id = 0
    beforeAll(async () => {
      const opened = await openItems(() => {})
      db = opened.db
      return () => db.close()
    })

    it.each([0, -1, 2 ** 31, 1_790_000_000_123_456, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER])(
      'returns %i as that number',
      async (amount) => {
        await db.run(sql`INSERT INTO items (id, amount) VALUES (${++id}, ${amount})`)
        expect(await db.get(sql`SELECT amount FROM items WHERE amount = ${amount}`)).toEqual({ amount })
        expect(await db.get(sql`SELECT count(*) AS n, max(amount) AS most FROM items WHERE id = ${id}`)).toEqual({
          n: 1,
          most: amount,
        })
      },
    )

    it.each([
      ['nothing', ''],
      ['emoji, one of several code points', '😀 👩‍👩‍👧‍👦 🏳️‍🌈'],
      ['ends of lines', 'a\r\nb\rc\n\n'],
      ['separators of JavaScript', 'a\u2028b\u2029c'],
      ['marks at its ends', '\uFEFF a\u00A0 '],
      ['decomposed letters', 'e\u0301 and \u00E9'],
      ['SQL', '\'; DROP TABLE items; -- ? $1 :name \\ " `'],
      ['64 KiB', 'é\n'.repeat(21_846)],
    ])('stores a text byte for byte: %s', async (_, content) => {
      await db.run(sql`INSERT INTO items (id, content) VALUES (${++id}, ${content})`)
      const bytes = dialect === 'sqlite' ? 'lower(hex(content))' : "encode(convert_to(content, 'UTF8'), 'hex')"
      expect(
        await db.get(
          statement(`SELECT content, ${bytes} AS bytes FROM items WHERE id = ? AND content = ?`, [id, content]),
        ),
      ).toEqual({
        content,
        bytes: Buffer.from(content).toString('hex'),
      })
    })
  })

  describe('write', () => {
    it('returns the result of its work', async () => {
      const { db } = await openItems()
      expect(await db.write(async (tx) => [await tx.run(statement(INSERT, [1, 'a'])), 'done'])).toEqual([1, 'done'])
      expect(await countItems(db)).toBe(1)
    })

    it('rolls back work that throws, and throws the same error', async () => {
      const { db } = await openItems()
      const failure = new ChatError('forbidden')
      const written = db.write(async (tx) => {
        await tx.run(statement(INSERT, [1, 'a']))
        expect(await countItems(tx)).toBe(1)
        throw failure
      })
      await expect(written).rejects.toBe(failure)
      expect(await countItems(db)).toBe(0)
    })

    it.each([
      ['throws', () => Promise.reject(new Error('no'))],
      ['breaks a constraint', (tx: Queries) => tx.run(statement(INSERT, [101, 'taken']))],
      ['writes wrong SQL', (tx: Queries) => tx.run(sql`INSERT INTO nowhere VALUES (1)`)],
    ])('does not affect other writers if its work %s', async (_, fail) => {
      const { db } = await openItems()
      await db.run(statement(INSERT, [100, 'taken']))
      const writes = times(51, (id) =>
        db.write(async (tx) => {
          await tx.run(statement(INSERT, [id, `item ${id}`]))
          if (id === 25) await fail(tx)
        }),
      )
      const settled = await Promise.allSettled(writes)
      expect(settled.flatMap(({ status }, id) => (status === 'rejected' ? [id] : []))).toEqual([25])
      expect(await countItems(db)).toBe(51)
      expect(await db.get(sql`SELECT id FROM items WHERE id = 25`)).toBeUndefined()
    })

    it('is invisible from outside before it has ended', async () => {
      const { db, again } = await openItems()
      const other = await again()
      const [begun, finish] = [promised(), promised()]
      const written = db.write(async (tx) => {
        await tx.run(statement(INSERT, [1, 'a']))
        begun.resolve()
        await finish.promise
        await tx.run(statement(INSERT, [2, 'b']))
      })
      await begun.promise
      const beside = Promise.all([countItems(db), db.snapshot(countItems)])
      expect(await countItems(other)).toBe(0)
      finish.resolve()
      // Answered before or after the transaction, never within it.
      for (const count of await beside) expect([0, 2]).toContain(count)
      await written
      // Another connection may read an old state until the end of this turn of the event loop.
      await new Promise((resolve) => setImmediate(resolve))
      expect([await countItems(db), await countItems(other)]).toEqual([2, 2])
    })

    it('rolls back no statement of others', async () => {
      const { db } = await openItems()
      const [begun, finish] = [promised(), promised()]
      const failing = db.write(async (tx) => {
        await tx.run(statement(INSERT, [1, 'mine']))
        begun.resolve()
        await finish.promise
        throw new Error('no')
      })
      await begun.promise
      const beside = [
        db.run(statement(INSERT, [2, 'b'])),
        db.write((tx) => tx.run(statement(INSERT, [3, 'c']))),
        db.run(statement(INSERT, [4, 'd'])),
      ]
      finish.resolve()
      await expect(failing).rejects.toThrow('no')
      expect(await Promise.all(beside)).toEqual([1, 1, 1])
      expect(await db.all(sql`SELECT id FROM items ORDER BY id`)).toEqual([{ id: 2 }, { id: 3 }, { id: 4 }])
    })

    it('acknowledges all or nothing when the work ignores a failed statement', async () => {
      const { db } = await openItems()
      await db.run(statement(INSERT, [1, 'taken']))
      const written = db.write(async (tx) => {
        await tx.run(statement(INSERT, [2, 'kept']))
        await tx.run(statement(INSERT, [3, 'taken'])).catch(() => {})
      })
      const [{ status }] = await Promise.allSettled([written])
      expect(await countItems(db)).toBe(status === 'fulfilled' ? 2 : 1)
    })

    it('commits statements that are not awaited', async () => {
      const { db } = await openItems()
      const value = await db.write(async (tx) => {
        tx.defer(tx.run(statement(INSERT, [1, 'a'])))
        tx.defer(Promise.all([tx.run(statement(INSERT, [2, 'b'])), tx.run(statement(INSERT, [3, 'c']))]))
        return 'done'
      })
      expect(value).toBe('done')
      expect(await db.all(sql`SELECT name FROM items ORDER BY id`)).toEqual([
        { name: 'a' },
        { name: 'b' },
        { name: 'c' },
      ])
    })

    it('rolls back when a statement fails that is not awaited, and keeps the writes of others', async () => {
      const { db } = await openItems()
      const writes = times(8, (n) =>
        db.write(async (tx) => {
          await tx.run(statement(INSERT, [10 * n, `first of ${n}`]))
          tx.defer(tx.run(statement(INSERT, [10 * n + 1, n === 3 ? 'first of 3' : `second of ${n}`])))
          tx.defer(tx.run(statement(INSERT, [10 * n + 2, `third of ${n}`])))
        }),
      )
      const results = await Promise.allSettled(writes)
      expect(results.flatMap(({ status }, n) => (status === 'rejected' ? [n] : []))).toEqual([3])
      expect(await db.get(sql`SELECT count(*) AS n FROM items`)).toEqual({ n: 21 })
      expect(await db.get(sql`SELECT count(*) AS n FROM items WHERE id BETWEEN 30 AND 39`)).toEqual({ n: 0 })
    })

    it('leaves no unhandled rejection of unawaited statements when the work throws', async () => {
      const { db } = await openItems()
      const write = db.write(async (tx) => {
        tx.defer(tx.run(statement(INSERT, [1, 'a'])))
        tx.defer(tx.run(statement(INSERT, [1, 'b'])))
        throw new ChatError('not_found')
      })
      expect(await codeOf(write)).toBe('not_found')
      expect(await db.get(sql`SELECT count(*) AS n FROM items`)).toEqual({ n: 0 })
    })

    it('lets one of many writers take a name', async () => {
      const { db } = await openItems()
      const take = (id: number) => db.write((tx) => tx.run(statement(`${INSERT} ON CONFLICT DO NOTHING`, [id, 'name'])))
      const taken = await Promise.all(times(20, take))
      expect(taken.toSorted()).toEqual([...times(19, () => 0), 1])
      expect(await countItems(db)).toBe(1)
    })

    it('passes on a violated constraint unchanged', async () => {
      const { db } = await openItems()
      await db.run(statement(INSERT, [1, 'name']))
      for (const attempt of [
        () => db.run(statement(INSERT, [2, 'name'])),
        () => db.write((tx) => tx.run(statement(INSERT, [2, 'name']))),
      ]) {
        await expect(attempt()).rejects.toThrow(/unique/i)
        await expect(attempt()).rejects.not.toBeInstanceOf(ChatError)
      }
    })

    it('keeps the acknowledged writes of 64 writers at once', async () => {
      const { db, again } = await openItems()
      await db.run(statement(INSERT, [64, 'sum']))
      const write = (id: number) =>
        db.write(async (tx) => {
          await tx.run(statement(INSERT, [id, `item ${id}`]))
          await tx.run(sql`UPDATE items SET amount = amount + 1 WHERE name = 'sum'`)
        })
      const results = await Promise.allSettled(times(64, write))
      const refused = results.filter((result) => result.status === 'rejected')
      // A writer that waits too long for a connection is told so.
      expect(refused.filter(({ reason }) => reason.code !== 'unavailable')).toEqual([])
      const acknowledged = results.length - refused.length
      expect(acknowledged).toBeGreaterThan(0)
      await db.close()
      const reopened = await again()
      expect(await countItems(reopened)).toBe(acknowledged + 1)
      expect(await reopened.get(sql`SELECT amount FROM items WHERE name = 'sum'`)).toEqual({ amount: acknowledged })
    })

    it('that does not wait for the disk is atomic, too, beside others that do', async () => {
      const { db, again } = await openItems()
      const write = (id: number) =>
        db.write(
          async (tx) => {
            await tx.run(statement(INSERT, [id, `item ${id}`]))
            if (id % 5 === 0) throw new Error('no fifth')
          },
          id % 2 === 0 ? { durable: false } : {},
        )
      const results = await Promise.allSettled(times(20, write))
      const failed = results.flatMap(({ status }, id) => (status === 'rejected' ? [id] : []))
      expect(failed).toEqual([0, 5, 10, 15])
      await db.close()
      expect(await countItems(await again())).toBe(16)
    })
  })

  describe('a transaction that uses the outer database', () => {
    let db: Database
    beforeAll(async () => {
      const opened = await openItems(() => {})
      db = opened.db
      return () => db.close()
    })

    it.each<[string, (db: Database) => Promise<unknown>]>([
      ['all', (db) => db.all(sql`SELECT 1`)],
      ['get', (db) => db.get(sql`SELECT 1`)],
      ['run', (db) => db.run(statement(INSERT, [1, 'a']))],
      ['write', (db) => db.write(async () => {})],
      ['snapshot', (db) => db.snapshot(async () => {})],
      ['close', (db) => db.close()],
    ])('fails instead of waiting for itself: %s', async (_, use) => {
      await expect(db.write(() => use(db))).rejects.toThrow('outer database')
      await expect(db.snapshot(() => use(db))).rejects.toThrow('outer database')
      expect(await countItems(db)).toBe(0)
    })

    it('may do so once it has ended', async () => {
      await db.write((tx) => tx.run(statement(INSERT, [1, 'a']))).then(() => db.run(statement(INSERT, [2, 'b'])))
      expect(await db.snapshot(countItems).then(() => db.write(countItems))).toBe(2)
    })
  })

  it.each<[string, (db: Database, work: (tx: Queries) => Promise<void>) => Promise<void>]>([
    ['committed', (db, work) => db.write(work)],
    ['rolled back', (db, work) => db.write((tx) => work(tx).then(() => Promise.reject(new Error('no'))))],
    ['a snapshot', (db, work) => db.snapshot(work)],
  ])('refuses a tx that has ended: %s', async (_, run) => {
    const { db } = await openItems()
    let kept!: Queries
    await run(db, async (tx) => {
      kept = tx
    }).catch(() => {})
    await expect(kept.get(sql`SELECT 1`)).rejects.toThrow('The transaction is over')
    await expect(kept.run(statement(INSERT, [1, 'late']))).rejects.toThrow('The transaction is over')
    expect(await countItems(db)).toBe(0)
  })

  it('reads one state in a snapshot while others commit', async () => {
    const { db, again } = await openItems()
    const other = await again()
    const counts = await db.snapshot(async (snapshot) => {
      const before = await countItems(snapshot)
      await other.write((tx) => tx.run(statement(INSERT, [1, 'a'])))
      return [before, await countItems(snapshot), await countItems(other)]
    })
    expect(counts).toEqual([0, 0, 1])
    expect(await db.snapshot(countItems)).toBe(1)
  })

  it('passes on what a snapshot throws, and continues to work', async () => {
    const { db } = await openItems()
    const failure = new ChatError('not_found')
    await expect(db.snapshot(() => Promise.reject(failure))).rejects.toBe(failure)
    await expect(db.snapshot((snapshot) => snapshot.get(sql`SELECT nothing`))).rejects.toThrow()
    expect(await db.write((tx) => tx.run(statement(INSERT, [1, 'a'])))).toBe(1)
  })

  it('has a new change token after each commit of another connection', async () => {
    const { db, again } = await openItems()
    const other = await again()
    const tokens = [await db.changeToken()]
    for (const id of [1, 2, 3]) {
      await other.write((tx) => tx.run(statement(INSERT, [id, `item ${id}`])))
      tokens.push(await db.changeToken())
    }
    expect(new Set(tokens).size).toBe(4)
  })

  describe('close', () => {
    it('waits for earlier calls, and refuses later ones', async () => {
      const { db, again } = await openItems()
      const written = Promise.all(times(64, (id) => db.write((tx) => tx.run(statement(INSERT, [id, `item ${id}`])))))
      const read = [countItems(db), db.snapshot(countItems)]
      const closed = db.close()
      const calls = [
        () => db.all(sql`SELECT 1`),
        () => db.get(sql`SELECT 1`),
        () => db.run(statement(INSERT, [100, 'late'])),
        () => db.write((tx) => tx.run(statement(INSERT, [101, 'late']))),
        () => db.snapshot(countItems),
        () => db.changeToken(),
      ]
      expect(await Promise.all(calls.map((call) => codeOf(call())))).toEqual(calls.map(() => 'unavailable'))
      await closed
      expect(await Promise.all(calls.map((call) => codeOf(call())))).toEqual(calls.map(() => 'unavailable'))
      expect(await countItems(await again())).toBe(64)
      expect(await written).toHaveLength(64)
      await Promise.all(read)
    })

    it('refuses a write that arrives while it waits for a snapshot', async () => {
      const { db } = await openItems()
      const [begun, finish] = [promised(), promised()]
      const snapshot = db.snapshot(async (queries) => {
        begun.resolve()
        await finish.promise
        return countItems(queries)
      })
      await begun.promise
      const closed = db.close()
      const late = codeOf(db.write((tx) => tx.run(statement(INSERT, [1, 'late']))))
      finish.resolve()
      expect([await snapshot, await late, await closed]).toEqual([0, 'unavailable', undefined])
    })

    it('may be called again', async () => {
      const { db } = await openItems()
      await Promise.all([db.close(), db.close()])
      await db.close()
    })
  })
}

async function countItems(db: Queries): Promise<number> {
  return (await db.get<{ n: number }>(sql`SELECT count(*) AS n FROM items`))!.n
}
