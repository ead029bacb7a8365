import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { startCluster } from '../support/postgres.ts'

/** An empty database for a script. */
export interface ScriptDatabase {
  dialect: 'sqlite' | 'postgresql'
  url: string
  /** The URL of another empty database, removed with this one. */
  another(): Promise<string>
  /** Restarts its server, if it has one. */
  restart?: () => Promise<void>
  remove(): Promise<void>
}

/** Runs `work` on an empty database of each requested and installed kind, one after the other. */
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
  let others = 0
  return {
    dialect: 'sqlite',
    another: async () => `sqlite:${join(folder, `${++others}.db`)}`,
    url: `sqlite:${join(folder, 'chat.db')}`,
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

async function openPostgres(): Promise<ScriptDatabase | undefined> {
  const cluster = await startCluster()
  if (!cluster) return undefined
  let others = 0
  async function another(): Promise<string> {
    const admin = new pg.Client(cluster!.url)
    await admin.connect()
    await admin.query(`CREATE DATABASE other_${++others}`)
    await admin.end()
    return cluster!.databaseUrl(`other_${others}`)
  }
  return {
    dialect: 'postgresql',
    url: cluster.url,
    another,
    restart: () => cluster.restart(),
    remove: () => cluster.stop(),
  }
}
