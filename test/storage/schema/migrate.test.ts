import { expect, it, onTestFinished } from 'vitest'
import { createChatService, parseConfig } from '../../../lib/index.ts'
import { openStorage, type Storage } from '../../../lib/storage/open.ts'
import { assertMigrated, migrate, toChecksum } from '../../../lib/storage/schema/migrate.ts'
import { MIGRATIONS } from '../../../lib/storage/schema/migrations.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { createSqliteFile, describeOnEachEmptyDatabase } from '../../support/databases.ts'
import { times } from '../../support/service.ts'
import { runProcess } from '../child.ts'
import { FROZEN } from '../frozen.ts'
import { promised } from '../handles.ts'

const NAMES = MIGRATIONS.map(({ name }) => name)
const PENDING = NAMES.map((name) => ({ name }))
const APPLIED = NAMES.map((name) => ({
  name,
  applied_at: expect.stringMatching(/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
}))

it('has a unique name for each migration', () => {
  expect(new Set(NAMES).size).toBe(NAMES.length)
  for (const name of NAMES) expect(name).toMatch(/^\d{4}-[a-z-]+$/)
  expect([...NAMES].sort()).toEqual(NAMES)
})

it.each(['sqlite', 'postgresql'] as const)('has the migrations on %s that every database was made with', (dialect) => {
  // A migration in this list never changes, and a new one is added to it.
  const checksums = MIGRATIONS.map((migration) => [migration.name, toChecksum(migration, dialect)])
  expect(Object.fromEntries(checksums)).toEqual(FROZEN[dialect])
})

describeOnEachEmptyDatabase('the schema', (openUrl) => {
  it('does not exist before it is created on request', async () => {
    const storage = await opened(await openUrl())
    expect(await storage.migrations()).toEqual(PENDING)
    expect(await storage.migrations()).toEqual(PENDING)
    await expect(storage.db.get(sql`SELECT name FROM meta`)).rejects.toThrow('meta')
  })

  it('is applied once, with the time', async () => {
    const storage = await opened(await openUrl())
    expect(await storage.migrate()).toEqual(NAMES)
    const states = await storage.migrations()
    expect(states).toEqual(APPLIED)
    const epoch = await epochOf(storage)

    expect(await storage.migrate()).toEqual([])
    expect(await storage.migrations()).toEqual(states)
    expect(await epochOf(storage)).toBe(epoch)
  })

  it('is applied once by several callers that start together', async () => {
    const url = await openUrl()
    const storages = await Promise.all(times(4, () => opened(url)))
    const applied = await Promise.all(storages.map((storage) => storage.migrate()))
    // Each step is a transaction of its own, run by either of them.
    expect(applied.flat().toSorted()).toEqual(NAMES)
    for (const storage of storages) expect(await storage.migrations()).toEqual(APPLIED)
  })

  it('is applied once by several processes that start together', async () => {
    const url = await openUrl()
    const applied = await Promise.all(times(4, () => runProcess('migrate', url)))
    expect(applied.reduce((sum, { output }) => sum + Number(output), 0)).toBe(NAMES.length)
    expect(await (await opened(url)).migrations()).toEqual(APPLIED)
  })

  it('is applied completely after a process was killed during it', async () => {
    const urls = await Promise.all(
      ['CREATE TABLE messages', 'COMMIT'].map(async (statement) => {
        const url = await openUrl()
        expect(await runProcess('migrate', url, statement)).toEqual({ signal: 'SIGKILL', output: '' })
        return url
      }),
    )
    for (const url of urls) {
      const storage = await opened(url)
      expect(await storage.migrations()).toEqual(PENDING)
      await expect(storage.db.get(sql`SELECT name FROM meta`)).rejects.toThrow('meta')
      expect(await storage.migrate()).toEqual(NAMES)
    }
  })

  it('is used when a newer program has only added to it, but not exported', async () => {
    const storage = await migrated(await openUrl())
    await addFuture(storage)
    expect(await storage.migrate()).toEqual([])
    await assertMigrated(storage.db)
    expect((await storage.migrations()).at(-1)).toMatchObject({ name: '9999-future', differs: 'newer' })
    await expect(storage.export(() => {})).rejects.toThrow('(9999-future) is newer than this program')
  })

  it('is refused when a newer program has changed its major version', async () => {
    const storage = await migrated(await openUrl())
    await addFuture(storage)
    await storage.db.run(sql`INSERT INTO meta (name, value) VALUES ('schema_major', '2')`)
    for (const attempt of [() => storage.migrate(), () => assertMigrated(storage.db)]) {
      await expect(attempt()).rejects.toThrow(
        `(9999-future, version 2.${NAMES.length + 1}) is newer than this program can use (1.${NAMES.length})`,
      )
    }
  })

  it("is refused when an applied migration differs from the program's", async () => {
    const storage = await migrated(await openUrl())
    await storage.db.run(sql`UPDATE migrations SET checksum = 'x' WHERE id = 1`)
    expect((await storage.migrations())[0]).toMatchObject({ differs: 'changed' })
    for (const attempt of [() => storage.migrate(), () => assertMigrated(storage.db)]) {
      await expect(attempt()).rejects.toThrow(`Migration ${NAMES[0]} is not the one this database was made with`)
    }
  })

  it('gets no further migration after an unknown one', async () => {
    const storage = await migrated(await openUrl())
    await storage.db.run(sql`DROP TABLE events`)
    await storage.db.run(sql`DELETE FROM migrations`)
    await addFuture(storage)
    await expect(storage.migrate()).rejects.toThrow('9999-future')
    await expect(storage.db.get(sql`SELECT id FROM events`)).rejects.toThrow('events')
  })

  it('is left unchanged if the configuration disables migrations', async () => {
    const storage = await opened(await openUrl())
    const chat = createChatService(parseConfig({ storage: { migrate: false } }), storage)
    await expect(chat.start()).rejects.toThrow(`${NAMES[0]} is pending`)
    expect(await storage.migrations()).toEqual(PENDING)
    await storage.migrate()
    await chat.start({ background: false })
  })
})

it('waits for a long migration of another process, and logs that', { timeout: 60_000 }, async () => {
  const { url, remove } = await createSqliteFile()
  onTestFinished(remove)
  const [other, storage, third] = [await opened(url), await opened(url), await opened(url)]
  const [begun, told] = [promised(), promised()]
  const step = other.db.write(async (tx) => {
    await tx.run(sql`CREATE TABLE large (id INTEGER PRIMARY KEY)`)
    begun.resolve()
    // Longer than any other write waits for the lock.
    await Promise.all([told.promise, expect(third.db.write((tx) => tx.run(sql`DELETE FROM large`))).rejects.toThrow()])
  })
  await begun.promise
  const applied = migrate(storage.db, { onLong: told.resolve })
  await step
  expect(await applied).toEqual(NAMES)
})

async function opened(url: string): Promise<Storage> {
  const storage = await openStorage({ database: url, strict: true })
  onTestFinished(() => storage.close())
  return storage
}

async function migrated(url: string): Promise<Storage> {
  const storage = await opened(url)
  await storage.migrate()
  return storage
}

/** As a later version of the program would do. */
function addFuture(storage: Storage): Promise<number> {
  return storage.db.run(
    sql`INSERT INTO migrations (id, name, checksum, applied_at) VALUES (${NAMES.length + 1}, '9999-future', 'x', 0)`,
  )
}

async function epochOf(storage: Storage): Promise<unknown> {
  return (await storage.db.get(sql`SELECT value FROM meta WHERE name = 'epoch'`))?.value
}
