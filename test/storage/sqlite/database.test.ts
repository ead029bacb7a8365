import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Database, Queries } from '../../../lib/storage/database.ts'
import { openStorage } from '../../../lib/storage/open.ts'
import { sql, statement } from '../../../lib/storage/sql.ts'
import type { SqliteHandle } from '../../../lib/storage/sqlite/connection.ts'
import { createSqliteDatabase } from '../../../lib/storage/sqlite/database.ts'
import { createSqliteFile, type FreshDatabase } from '../../support/databases.ts'
import { codeOf, times } from '../../support/service.ts'
import { runProcess } from '../child.ts'
import { fileOf, openHandle, promised } from '../handles.ts'

const CREATE = 'CREATE TABLE items (id INTEGER PRIMARY KEY, content TEXT UNIQUE)'
const INSERT = 'INSERT INTO items (id, content) VALUES (?, ?)'

const created: FreshDatabase[] = []
afterAll(async () => {
  await Promise.all(created.map((database) => database.remove()))
})

describe('the settings', () => {
  it.each([
    ['full', 2],
    ['os', 1],
  ] as const)('keep acknowledged writes, with durability "%s"', async (durability, synchronous) => {
    const { db } = await opened({ database: await newUrl(), durability })
    expect(await db.get(sql`PRAGMA journal_mode`)).toEqual({ journal_mode: 'wal' })
    expect(await db.get(sql`PRAGMA synchronous`)).toEqual({ synchronous })
    expect(await db.get(sql`PRAGMA foreign_keys`)).toEqual({ foreign_keys: 1 })
    expect(await db.get(sql`PRAGMA wal_autocheckpoint`)).toEqual({ wal_autocheckpoint: 4000 })
  })

  it.each([
    ['full', 2],
    ['os', 1],
  ] as const)(
    'wait for the disk again after a write that does not, with durability "%s"',
    async (durability, usual) => {
      const { db } = await opened({ database: await newUrl(), durability })
      const find = async (queries: Queries) =>
        (await queries.get<{ synchronous: number }>(sql`PRAGMA synchronous`))?.synchronous
      const during: unknown[] = []
      const write = (options?: { durable: false }, fails = false) =>
        db.write(async (tx) => {
          during.push(await find(tx))
          if (fails) throw new Error('failed')
        }, options)
      await write({ durable: false })
      await expect(write({ durable: false }, true)).rejects.toThrow('failed')
      expect(await find(db)).toBe(usual)
      await Promise.all([write({ durable: false }), write()])
      expect([during, await find(db)]).toEqual([[1, 1, 1, usual], usual])
    },
  )

  it('wait for the disk again when another process has the lock', async () => {
    const { db, other } = await openTwice()
    other.exec('BEGIN IMMEDIATE')
    const waiting = db.write((tx) => tx.run(statement(INSERT, [1, 'one'])), { durable: false })
    await new Promise((resolve) => setTimeout(resolve, 30))
    expect(await db.get(sql`PRAGMA synchronous`)).toEqual({ synchronous: 2 })
    other.exec('COMMIT')
    expect(await waiting).toBe(1)
    expect(await db.get(sql`PRAGMA synchronous`)).toEqual({ synchronous: 2 })
  })

  it('sync by default', async () => {
    const { db } = await opened({ database: await newUrl() })
    expect(await db.get(sql`PRAGMA synchronous`)).toEqual({ synchronous: 2 })
  })

  it('do not let SQLite wait inside the event loop', async () => {
    const { db } = await opened({ database: await newUrl() })
    expect((await db.get<{ timeout: number }>(sql`PRAGMA busy_timeout`))!.timeout).toBeLessThanOrEqual(10)
  })

  it('enforce foreign keys', async () => {
    const { db } = await opened({ database: 'sqlite::memory:' })
    await db.run(sql`CREATE TABLE parents (id INTEGER PRIMARY KEY)`)
    await db.run(sql`CREATE TABLE children (id INTEGER PRIMARY KEY REFERENCES parents)`)
    await expect(db.run(sql`INSERT INTO children VALUES (1)`)).rejects.toThrow(/foreign key/i)
  })
})

it.each([0o000, 0o022, 0o077])('make the files readable by their user only, under a umask of %i', async (umask) => {
  const folder = dirname(fileOf(await newUrl()))
  const before = process.umask(umask)
  onTestFinished(() => void process.umask(before))
  const file = `${folder}/a/b/chat.db`
  const { db } = await opened({ database: `sqlite:${file}` })
  await db.write((tx) => tx.run(statement(CREATE)))
  const modes = ['/a', '/a/b', '/a/b/chat.db', '/a/b/chat.db-wal', '/a/b/chat.db-shm'].map(
    (path) => statSync(folder + path).mode & 0o777,
  )
  expect(modes).toEqual([0o700, 0o700, 0o600, 0o600, 0o600])
})

describe('a batch', () => {
  it('commits writers that wait at the same time together', async () => {
    const { db, log } = await openRecorded()
    expect(await Promise.all(times(64, (id) => db.write((tx) => tx.run(statement(INSERT, [id, null])))))).toEqual(
      times(64, () => 1),
    )
    expect(log).toEqual(['BEGIN IMMEDIATE', ...times(64, () => INSERT), 'COMMIT'])
  })

  it('runs again, a savepoint each, when a writer fails after a change', async () => {
    const { db, log } = await openRecorded()
    const writes = times(3, (id) =>
      db.write(async (tx) => {
        await tx.run(statement(INSERT, [id, null]))
        if (id === 1) throw new Error('no')
      }),
    )
    expect((await Promise.allSettled(writes)).map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
    ])
    expect(log).toEqual([
      ...['BEGIN IMMEDIATE', INSERT, INSERT, 'ROLLBACK'],
      ...['BEGIN IMMEDIATE', 'SAVEPOINT writer', INSERT, 'RELEASE writer'],
      ...['SAVEPOINT writer', INSERT, 'ROLLBACK TO writer', 'RELEASE writer'],
      ...['SAVEPOINT writer', INSERT, 'RELEASE writer', 'COMMIT'],
    ])
    expect(await db.all(sql`SELECT id FROM items`)).toEqual([{ id: 0 }, { id: 2 }])
  })

  it('does not run again for a writer that fails before a change', async () => {
    const { db, handle, log } = await openRecorded()
    const tellsReads = handle.prepare('SELECT 1').readonly === true
    const runs: number[] = []
    const writes = times(3, (id) =>
      db.write(async (tx) => {
        runs.push(id)
        await tx.get(sql`SELECT count(*) FROM items`)
        if (id === 1) throw new Error('no')
        await tx.run(statement(INSERT, [id, null]))
      }),
    )
    await Promise.allSettled(writes)
    expect(runs).toEqual(tellsReads ? [0, 1, 2] : [0, 1, 0, 1, 2])
    expect(log.filter((sql) => sql === 'COMMIT')).toHaveLength(1)
    expect(await db.all(sql`SELECT id FROM items`)).toEqual([{ id: 0 }, { id: 2 }])
  })

  it('has a maximum size', async () => {
    const { db, log } = await openRecorded()
    await Promise.all(times(600, (id) => db.write((tx) => tx.run(statement(INSERT, [id, null])))))
    const commits = log.filter((sql) => sql === 'COMMIT').length
    expect(commits).toBeGreaterThan(1)
    expect(commits).toBeLessThan(10)
    expect(await countItems(db)).toBe(600)
  })

  it('answers no writer before the commit', async () => {
    const { db, log } = await openRecorded()
    const ends = times(3, (id) =>
      db
        .write((tx) => (id === 1 ? Promise.reject(new Error('no')) : tx.run(statement(INSERT, [id, null]))))
        .then(
          () => log.includes('COMMIT'),
          () => log.includes('COMMIT'),
        ),
    )
    expect(await Promise.all(ends)).toEqual([true, true, true])
  })

  it('runs one writer after another, whatever each waits for', async () => {
    const { db } = await openRecorded()
    const [begun, finish] = [promised(), promised()]
    const steps: string[] = []
    const first = db.write(async () => {
      steps.push('first begins')
      begun.resolve()
      await finish.promise
      steps.push('first ends')
    })
    const second = db.write(async () => void steps.push('second'))
    await begun.promise
    const third = db.write(async () => void steps.push('third'))
    finish.resolve()
    await Promise.all([first, second, third])
    expect(steps).toEqual(['first begins', 'first ends', 'second', 'third'])
  })
})

// node:sqlite before Node 22.16 does not report whether a transaction is open.
describe.each([
  ['says', false],
  ['does not say', true],
])('a full disk, when the connection %s whether a transaction is open', (_, silent) => {
  const kilobytes = (count: number, id: number) => `${id} ${'x'.repeat(count * 1024)}`

  /** Limits the file to another hundred kilobytes; returns a function that raises the limit. */
  async function openSmall() {
    const { db, handle } = await openRecorded({ silent })
    const [{ page_count }] = handle.prepare('PRAGMA page_count').all() as [{ page_count: number }]
    await db.write((tx) => tx.run(statement(INSERT, [0, 'there'])))
    handle.exec(`PRAGMA max_page_count = ${page_count + 25}`)
    return { db, makeRoom: () => handle.exec(`PRAGMA max_page_count = ${page_count + 1_000}`) }
  }

  it('fails the batch as a whole, when it ended the transaction', async () => {
    const { db, makeRoom } = await openSmall()
    const writeAll = () => times(20, (id) => db.write((tx) => tx.run(statement(INSERT, [id + 1, kilobytes(10, id)]))))
    expect(await Promise.all(writeAll().map(codeOf))).toEqual(times(20, () => 'storage_full'))
    expect(await db.all(sql`SELECT id, content FROM items`)).toEqual([{ id: 0, content: 'there' }])
    expect(await db.get(sql`PRAGMA integrity_check`)).toEqual({ integrity_check: 'ok' })
    makeRoom()
    await Promise.all(writeAll())
    expect(await countItems(db)).toBe(21)
  })

  it('runs nothing more of the batch, and no statement of its own', async () => {
    const { db } = await openSmall()
    const ran: number[] = []
    const writes = times(20, (id) =>
      db.write(async (tx) => {
        await tx.run(statement(INSERT, [id + 1, kilobytes(10, id)])).catch(() => {})
        ran.push(id)
        await tx.run(sql`DELETE FROM items WHERE id = 0`).catch(() => {})
      }),
    )
    expect(await Promise.all(writes.map(codeOf))).toEqual(times(20, () => 'storage_full'))
    expect(ran.length).toBeLessThan(20)
    expect(await db.all(sql`SELECT id, content FROM items`)).toEqual([{ id: 0, content: 'there' }])
  })

  it('fails one writer only, when it undid no more than its statement', async () => {
    const { db, makeRoom } = await openSmall()
    // A statement with many rows that may break a constraint can be undone alone.
    const many = "INSERT INTO items (content) SELECT value || '!' FROM json_each(?)"
    const tooMuch = JSON.stringify(times(50, (id) => kilobytes(10, id)))
    const writes = [
      db.write((tx) => tx.run(statement(INSERT, [1, 'before']))),
      db.write((tx) => tx.run(statement(many, [tooMuch]))),
      db.write((tx) => tx.run(statement(INSERT, [2, 'after']))),
    ]
    const [before, full, after] = await Promise.allSettled(writes)
    expect([before!.status, after!.status]).toEqual(['fulfilled', 'fulfilled'])
    expect(full).toMatchObject({ status: 'rejected', reason: { code: 'storage_full' } })
    expect(await countItems(db)).toBe(3)
    makeRoom()
    expect(await db.write((tx) => tx.run(statement(many, [tooMuch])))).toBe(50)
  })

  it('fails a single write, and a statement outside', async () => {
    const { db, makeRoom } = await openSmall()
    expect(await codeOf(db.write((tx) => tx.run(statement(INSERT, [1, kilobytes(200, 1)]))))).toBe('storage_full')
    expect(await codeOf(db.run(statement(INSERT, [1, kilobytes(200, 1)])))).toBe('storage_full')
    expect(await countItems(db)).toBe(1)
    makeRoom()
    expect(await db.run(statement(INSERT, [1, kilobytes(200, 1)]))).toBe(1)
  })
})

describe('a lock of another process', () => {
  it('makes writes wait, and neither reads nor the event loop', async () => {
    const { db, other } = await openTwice()
    other.exec('BEGIN IMMEDIATE')
    other.prepare(INSERT).run(1, 'theirs')
    let answered = 0
    const writes = [
      ...times(5, (id) => db.write((tx) => tx.run(statement(INSERT, [id + 10, null])))),
      // Outside a transaction, too.
      db.run(statement(INSERT, [20, null])),
    ].map((write) => write.finally(() => answered++))
    for (const _ of times(20, () => 0)) {
      await new Promise((tick) => setTimeout(tick, 1))
      expect(await countItems(db)).toBe(0)
    }
    expect(answered).toBe(0)
    other.exec('COMMIT')
    await Promise.all(writes)
    expect(await countItems(db)).toBe(7)
  })

  it('fails writes after a bounded time, and no later ones', async () => {
    const { db, other } = await openTwice()
    other.exec('BEGIN IMMEDIATE')
    const started = performance.now()
    const codes = await Promise.all(times(3, (id) => codeOf(db.write((tx) => tx.run(statement(INSERT, [id, null]))))))
    expect(codes).toEqual(times(3, () => 'unavailable'))
    expect(performance.now() - started).toBeGreaterThan(4_000)
    other.exec('ROLLBACK')
    await db.write((tx) => tx.run(statement(INSERT, [1, null])))
    expect(await countItems(db)).toBe(1)
  })
})

describe('a file that is no longer the opened one', () => {
  it.each(['', '-wal', '-shm'])(
    'accepts no writes for more than a moment: chat.db%s',
    { timeout: 30_000 },
    async (end) => {
      const { db, url } = await openTwice()
      const file = fileOf(url) + end
      await refused(db, () => renameSync(file, `${file}.away`))
      expect(await codeOf(db.get(sql`SELECT 1`))).toBe('unavailable')
      renameSync(`${file}.away`, file)
      await db.write((tx) => tx.run(statement(INSERT, [-1, null])))

      await refused(
        db,
        () => writeFileSync(`${file}.other`, 'another'),
        () => renameSync(file, `${file}.away`),
        () => renameSync(`${file}.other`, file),
      )
      renameSync(`${file}.away`, file)
      expect(await db.get(sql`PRAGMA integrity_check`)).toEqual({ integrity_check: 'ok' })
    },
  )

  /** Writes until a write is refused, for ten seconds at most. */
  async function refused(db: Database, ...steps: (() => void)[]): Promise<void> {
    for (const step of steps) step()
    const started = performance.now()
    for (;;) {
      const code = await db
        .write((tx) => tx.run(sql`INSERT INTO items (content) VALUES (NULL)`))
        .then(
          () => '',
          (error) => error.code,
        )
      expect(performance.now() - started).toBeLessThan(10_000)
      if (code) return expect(code).toBe('unavailable')
      await new Promise((tick) => setTimeout(tick, 20))
    }
  }
})

it('is neither read nor written for a while after damage was detected', async () => {
  const url = await newUrl()
  const first = await opened({ database: url })
  await first.db.write((tx) => tx.run(statement(CREATE)))
  for (const id of times(50, (n) => n))
    await first.db.write((tx) => tx.run(statement(INSERT, [id, `${id} ${'x'.repeat(1000)}`])))
  await first.close()
  const bytes = readFileSync(fileOf(url))
  bytes.fill(0xff, 4096 * 8)
  writeFileSync(fileOf(url), bytes)

  const { db } = await opened({ database: url })
  expect(await codeOf(db.all(sql`SELECT id, content FROM items`))).toBe('unavailable')
  expect(await codeOf(db.get(sql`SELECT 1`))).toBe('unavailable')
  expect(await codeOf(db.write((tx) => tx.run(statement(INSERT, [100, null]))))).toBe('unavailable')
  expect(await codeOf(db.snapshot((tx) => tx.get(sql`SELECT 1`)))).toBe('unavailable')
})

it('shares its file with another process', async () => {
  const { db, url } = await openTwice()
  const writing = runProcess('write', url, '1000', '200')
  const mine: Promise<number>[] = []
  for (let id = 0; id < 200; id++) {
    mine.push(db.write((tx) => tx.run(statement(INSERT, [id, null]))))
    await mine.at(-1)
  }
  expect(await writing).toEqual({ signal: null, output: '200' })
  expect(await countItems(db)).toBe(400)
})

it('does not report its own commits as changes, and reports those of others', async () => {
  const { db, other } = await openTwice()
  const first = await db.changeToken()
  await db.write((tx) => tx.run(statement(INSERT, [1, null])))
  expect(await db.changeToken()).toBe(first)
  other.exec('BEGIN')
  other.prepare(INSERT).run(2, null)
  expect(await db.changeToken()).toBe(first)
  other.exec('COMMIT')
  expect(await db.changeToken()).not.toBe(first)
})

it('continues to work when another connection has changed the schema', async () => {
  const { db, other } = await openTwice()
  const read = () => db.all(sql`SELECT id, content FROM items WHERE content = ${'a'}`)
  await db.write((tx) => tx.run(statement(INSERT, [1, 'a'])))
  expect(await read()).toEqual([{ id: 1, content: 'a' }])
  other.exec('ALTER TABLE items ADD COLUMN more TEXT; CREATE INDEX by_more ON items (more)')
  expect(await read()).toEqual([{ id: 1, content: 'a' }])
  await db.write((tx) => tx.run(statement(INSERT, [2, 'b'])))
  expect(await countItems(db)).toBe(2)
})

async function newUrl(): Promise<string> {
  const database = await createSqliteFile()
  created.push(database)
  return database.url
}

async function opened(options: Parameters<typeof openStorage>[0]) {
  const storage = await openStorage({ strict: true, ...options })
  onTestFinished(() => storage.close())
  return storage
}

/** A database with the table, and another connection to the same file. */
async function openTwice() {
  const url = await newUrl()
  const { db } = await opened({ database: url })
  await db.write((tx) => tx.run(statement(CREATE)))
  const other = await openHandle(fileOf(url))
  onTestFinished(() => other.close())
  return { db, other, url }
}

/** A database with the table, its connection, and the statements that run on it from now on. */
async function openRecorded({ silent = false } = {}): Promise<{ db: Database; handle: SqliteHandle; log: string[] }> {
  const handle = await openHandle(fileOf(await newUrl()))
  const log: string[] = []
  const db = createSqliteDatabase(recorded(handle, log, silent))
  onTestFinished(() => db.close())
  await db.write((tx) => tx.run(statement(CREATE)))
  log.length = 0
  return { db, handle, log }
}

/** @param silent leaves out whether a transaction is open */
function recorded(handle: SqliteHandle, log: string[], silent: boolean): SqliteHandle {
  const recording: SqliteHandle = {
    prepare(sql) {
      const statement = handle.prepare(sql)
      const step = <T>(run: () => T): T => {
        log.push(sql)
        return run()
      }
      const { readonly } = statement
      return {
        ...(readonly !== undefined && { readonly }),
        all: (...params) => step(() => statement.all(...params)),
        get: (...params) => step(() => statement.get(...params)),
        run: (...params) => step(() => statement.run(...params)),
      }
    },
    exec: (sql) => handle.exec(sql),
    close: () => handle.close(),
  }
  if (silent) return recording
  return Object.defineProperty(recording, 'inTransaction', {
    get: () => handle.inTransaction ?? handle.isTransaction,
  })
}

async function countItems(db: Queries): Promise<number> {
  return (await db.get<{ n: number }>(sql`SELECT count(*) AS n FROM items`))!.n
}
