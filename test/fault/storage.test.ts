import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished, type TestContext } from 'vitest'
import { createPostgresDatabase, createSqliteFile, type FreshDatabase } from '../support/databases.ts'
import { startCluster } from '../support/postgres.ts'
import { createRandom, newSeed } from './random.ts'
import { DAMAGES, damage, LOSSES, makeSpecimen, type Specimen, settleSpecimen } from './storage/damage.ts'
import { failEachCall } from './storage/io.ts'
import { killMigrations } from './storage/migrations.ts'
import { endurePostgres } from './storage/postgres.ts'
import { POSTGRES_FAULTS, POSTGRES_RESTARTS } from './storage/postgres-faults.ts'
import { endureSqlite } from './storage/sqlite.ts'
import { SQLITE_FAULTS } from './storage/sqlite-faults.ts'
import { watchSyncs } from './storage/sync.ts'

/** One fault of each kind: the script runs all of them. */
const BRIEFLY = [
  'full disk',
  'no larger files (ulimit -f)',
  'write: EIO',
  'sync: EIO twice',
  'read: EIO',
  'locked by another process',
  'file moved away',
  'way to it silent',
  'answers to COMMIT lost',
  'too many connections',
  'read-only',
  'restart (immediate)',
]

const LONG = { timeout: 120_000 }
const seed = newSeed()
console.log(`seed ${seed} (storage)`)

/** Checks the results, or skips the test with the reason for which there are none. */
function figuresOf<T>(figures: T | string, { skip }: Pick<TestContext, 'skip'>): T {
  if (typeof figures === 'string') return skip(figures)
  return figures
}

// Concurrent: most of the time is spent waiting.
describe.concurrent(
  'a service whose storage is in trouble loses nothing, says so, and comes back by itself',
  LONG,
  () => {
    it.for(BRIEFLY.filter((name) => name in SQLITE_FAULTS))('sqlite: %s', async (name, context) => {
      expect(figuresOf(await endureSqlite(name, { cycles: 1 }), context)).toMatchObject({ lost: 0, faults: [] })
    })

    const POSTGRES = { ...POSTGRES_FAULTS, ...POSTGRES_RESTARTS }
    it.for(BRIEFLY.filter((name) => name in POSTGRES))('postgresql: %s', async (name, context) => {
      expect(figuresOf(await endurePostgres(name, { cycles: 1 }), context)).toMatchObject({ lost: 0, faults: [] })
    })

    it.for(['pwrite64', 'fsync'] as const)(
      'sqlite: the n-th %s fails, and it is killed there',
      async (calls, context) => {
        const folder = mkdtempSync(join(tmpdir(), 'chat-fault-'))
        onTestFinished(() => rmSync(folder, { recursive: true }))
        const figures = figuresOf(await failEachCall(join(folder, 'chat.db'), calls, 2), context)
        expect(figures).toMatchObject({ lost: 0, faults: [] })
      },
    )
  },
)

describe('an acknowledged message has been synced', LONG, () => {
  it('by SQLite', async (context) => {
    const database = await createSqliteFile()
    onTestFinished(database.remove)
    const figures = await watchSyncs({ url: database.url, wal: '-wal', posts: 20 })
    expectSynced(figuresOf(figures, context))
  })

  it('by PostgreSQL', async (context) => {
    const cluster = await startCluster()
    if (!cluster) return context.skip('PostgreSQL is not installed')
    onTestFinished(cluster.stop)
    expectSynced(
      figuresOf(await watchSyncs({ url: cluster.url, pid: cluster.pid, wal: '/pg_wal/', posts: 20 }), context),
    )
  })

  function expectSynced({ acknowledged, synced }: { acknowledged: number; synced: number }): void {
    expect(acknowledged).toBeGreaterThanOrEqual(20)
    expect(synced).toBe(acknowledged)
  }
})

describe('a damaged file', LONG, () => {
  const random = createRandom(seed)
  let specimen: Specimen
  beforeAll(async () => {
    specimen = await makeSpecimen()
    return () => specimen.remove()
  }, 60_000)

  it.each(['WAL cut in half', 'shm of noise', 'first page of noise'])(
    '%s, is refused, answered with 503, or does no harm',
    async (name) => {
      const options = { mayLose: LOSSES.includes(name) }
      await damage(specimen, (file) => DAMAGES[name]!(file, random), options)
    },
  )

  it('is refused when it cannot be used', async () => {
    const outcomes = []
    for (const name of ['not a database', 'empty, beside its WAL', 'gone, beside its WAL'])
      outcomes.push(await damage(specimen, (file) => DAMAGES[name]!(file, random)))
    expect(new Set(outcomes)).toEqual(new Set(['refused to start']))
  })

  it('is detected when it is read', async () => {
    await settleSpecimen(specimen)
    expect(await damage(specimen, (file) => DAMAGES['cut in half']!(file, random))).not.toMatch(/went on/)
    for (let n = 0; n < 2; n++) await damage(specimen, (file) => DAMAGES['a page of noise']!(file, random))
  })
})

describe('a process that is killed during the migrations', LONG, () => {
  const created: FreshDatabase[] = []
  afterAll(async () => void (await Promise.all(created.map((database) => database.remove()))))

  it.for([
    ['sqlite', createSqliteFile],
    ['postgresql', createPostgresDatabase],
  ] as const)('leaves a database that another process finishes (%s)', async ([dialect, create], { skip }) => {
    if (dialect === 'postgresql' && !inject('postgres_url')) skip('PostgreSQL is not installed')
    const figures = await killMigrations(async () => {
      created.push(await create())
      return created.at(-1)!.url
    }, 150)
    expect(figures.faults).toEqual([])
    expect(figures.kills).toBeGreaterThan(1)
  })
})
