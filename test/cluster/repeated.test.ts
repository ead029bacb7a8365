import { afterEach, expect, it, vi } from 'vitest'
import { createCluster } from '../../lib/cluster/cluster.ts'
import { upsertPresence } from '../../lib/cluster/store-presence.ts'
import { createClock } from '../../lib/core/clock.ts'
import { currentMicros } from '../../lib/core/time.ts'
import { openStorage, parseConfig, type Storage } from '../../lib/index.ts'
import { createMetrics } from '../../lib/metrics/registry.ts'
import type { Database } from '../../lib/storage/database.ts'
import { sql } from '../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../support/databases.ts'

describeOnEachDatabase('what a process does at intervals beside others', (openUrl) => {
  const storages: Storage[] = []
  afterEach(async () => {
    vi.useRealTimers()
    for (const storage of storages.splice(0)) await storage.close()
  })

  /** @param intercept runs a statement instead of the database where the processes meet */
  async function start(intercept: <T>(sql: string, run: () => Promise<T>) => Promise<T | undefined>) {
    const storage = await openStorage({ database: await openUrl() })
    storages.push(storage)
    const shared = storage.signals ?? storage.db
    const run: Database['run'] = async (sql) => (await intercept(sql.text, () => shared.run(sql))) ?? 0
    const get: Database['get'] = (sql) => intercept(sql.text, () => shared.get(sql))
    const methods = { run, get }
    const config = parseConfig({ cluster: { beat_seconds: 1 } })
    const cluster = createCluster({
      ...{
        db: storage.signals ? storage.db : { ...storage.db, ...methods },
        signals: storage.signals && { ...storage.signals, ...methods },
      },
      ...{ config, settings: { current: () => config }, metrics: createMetrics('sqlite', []) },
      ...{
        log: { debug() {}, info() {}, warn() {}, error() {} },
        isEphemeral: () => true,
        filesState: () => undefined,
        reviews: false,
      },
      clock: createClock({ held: currentMicros, isShared: false }, { stepped() {}, trusted() {} }),
    })
    const nothing = async () => {}
    await cluster.start({
      countStreams: () => 0,
      unheardFor: () => 0,
      receive: nothing,
      reconsider() {},
      endStalled() {},
      meet: nothing,
      renew: nothing,
    })
    return { shared, cluster }
  }

  it('does not list a stopped process again by a report that was in progress', async () => {
    let reach = () => {}
    let release = () => {}
    const reached = new Promise<void>((resolve) => (reach = resolve))
    const released = new Promise<void>((resolve) => (release = resolve))
    const { shared, cluster } = await start(async (sql, run) => {
      if (!sql.startsWith('UPDATE nodes SET beat_at')) return run()
      // The report finds no row, after a while.
      reach()
      await released
      return undefined
    })
    await reached
    const stopped = cluster.stop()
    release()
    await stopped
    expect(await shared.all(sql`SELECT id FROM nodes`)).toEqual([])
  })

  it('deletes old signals also while the process cannot report', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    let prune = () => {}
    const pruned = new Promise<void>((resolve) => (prune = resolve))
    let reports = 0
    const { shared, cluster } = await start(async (sql, run) => {
      if (sql.startsWith('UPDATE nodes')) {
        reports++
        throw new Error('The database does not respond')
      }
      const changed = await run()
      if (sql.startsWith('DELETE FROM signals')) prune()
      return changed
    })
    await shared.run(sql`INSERT INTO signals (node_id, at, body) VALUES ('other', 0, '{}')`)
    vi.advanceTimersByTime(5_000)
    await pruned
    expect(reports).toBeGreaterThan(0)
    expect(await shared.all(sql`SELECT body FROM signals`)).toEqual([])
    await cluster.stop()
  })
  it('has told the others of its users once its row is removed, also if it can store nothing afterwards', async () => {
    const { shared, cluster } = await start(async (sql, run) => {
      if (sql.startsWith('INSERT INTO signals')) throw new Error('The process was killed')
      return run()
    })
    const nothing = { status: null, status_age: null, stalled_age: null, seen_age: 0 }
    await upsertPresence(shared, cluster.id, [{ user_id: 'ada', streams: 1, since_age: 0, ...nothing }])
    await cluster.stop()
    const rows = await shared.all<{ body: string }>(sql`SELECT body FROM signals`)
    expect(rows.map(({ body }) => JSON.parse(body).user_ids)).toEqual([['ada']])
  })
})
