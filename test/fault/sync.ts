/**
 * Checks that a sync has completed between each write of a message to the WAL and the first byte of it sent to a
 * client. It fails otherwise.
 *
 * `tsx test/fault/sync.ts [posts] [sqlite | postgresql]`
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startCluster } from '../support/postgres.ts'
import { type SyncFigures, watchSyncs } from './storage/sync.ts'

const [posts = '500', wanted] = process.argv.slice(2)

if (wanted !== 'postgresql') {
  const folder = mkdtempSync(join(tmpdir(), 'chat-sync-'))
  const url = `sqlite:${join(folder, 'chat.db')}`
  report('sqlite', await watchSyncs({ url, wal: '-wal', posts: Number(posts) }))
  rmSync(folder, { recursive: true })
}
if (wanted !== 'sqlite') {
  const cluster = await startCluster()
  if (!cluster) report('postgresql', 'PostgreSQL is not installed')
  else {
    const stage = { url: cluster.url, pid: cluster.pid, wal: '/pg_wal/', posts: Number(posts) }
    report('postgresql', await watchSyncs(stage).finally(() => cluster.stop()))
  }
}

function report(database: string, figures: SyncFigures | string): void {
  if (typeof figures === 'string') {
    console.log(`${database}: skipped, ${figures}`)
    return
  }
  const { acknowledged, synced } = figures
  console.log(`${database}: ${synced} of ${acknowledged} writes synced before they were acknowledged`)
  if (synced !== acknowledged || acknowledged < Number(posts)) process.exitCode = 1
}
