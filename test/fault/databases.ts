import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startCluster } from '../support/postgres.ts'

/** An empty database for a script. */
export interface ScriptDatabase {
  dialect: 'sqlite' | 'postgresql'
  url: string
  remove(): Promise<void>
}

/** Runs `work` on an empty database of each kind that is wanted and installed, one after the other. */
export async function onDatabases(
  wanted: string | undefined,
  work: (database: ScriptDatabase) => Promise<void>,
): Promise<void> {
  for (const [dialect, open] of [
    ['sqlite', openSqlite],
    ['postgresql', openPostgres],
  ] as const) {
    if (wanted !== undefined && wanted !== dialect) continue
    const database = await open()
    if (!database) console.log(`${dialect}: not installed, skipped`)
    else await work(database).finally(database.remove)
  }
}

async function openSqlite(): Promise<ScriptDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'chat-fault-'))
  return {
    dialect: 'sqlite',
    url: `sqlite:${join(folder, 'chat.db')}`,
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

async function openPostgres(): Promise<ScriptDatabase | undefined> {
  const cluster = await startCluster()
  return cluster && { dialect: 'postgresql', url: cluster.url, remove: () => cluster.stop() }
}
