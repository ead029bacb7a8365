import { afterEach, expect, it } from 'vitest'
import { createCluster } from '../../lib/cluster/cluster.ts'
import { currentMicros } from '../../lib/core/time.ts'
import { openStorage, parseConfig, type Storage } from '../../lib/index.ts'
import { createMetrics } from '../../lib/metrics/registry.ts'
import type { Database } from '../../lib/storage/database.ts'
import { describeOnEachDatabase } from '../support/databases.ts'

describeOnEachDatabase('a process that stops', (openUrl) => {
  const storages: Storage[] = []
  afterEach(async () => {
    for (const storage of storages.splice(0)) await storage.close()
  })

  it('is not listed again by a report that was in progress', async () => {
    const storage = await openStorage({ database: await openUrl() })
    storages.push(storage)
    const shared = storage.signals ?? storage.db
    let reach = () => {}
    let release = () => {}
    const reached = new Promise<void>((resolve) => (reach = resolve))
    const released = new Promise<void>((resolve) => (release = resolve))
    /** Finds no row at the first report, after a while. */
    const run: Database['run'] = async (sql, ...params) => {
      if (!sql.startsWith('UPDATE nodes')) return shared.run(sql, ...params)
      reach()
      await released
      return 0
    }
    const cluster = createCluster({
      ...{ db: { ...storage.db, run }, signals: storage.signals && { ...storage.signals, run } },
      ...{ config: parseConfig({ cluster: { beat_seconds: 1 } }), metrics: createMetrics('sqlite', []) },
      ...{ log: { debug() {}, info() {}, warn() {}, error() {} }, isEphemeral: () => true, now: currentMicros },
    })
    const nothing = async () => {}
    await cluster.start({ countStreams: () => 0, receive: nothing, reconsider() {}, meet: nothing, renew: nothing })
    await reached
    const stopped = cluster.stop()
    release()
    await stopped
    expect(await shared.all('SELECT id FROM nodes')).toEqual([])
  })
})
