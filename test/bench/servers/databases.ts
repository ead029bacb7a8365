import { Client } from 'pg'
import { isInstalled, startCluster } from '../../support/postgres.ts'
import { newDatabase } from './service.ts'

/** Gives `work` a function that creates a database: a file of SQLite's, or its URL on PostgreSQL. */
export type WithDatabases = <T>(work: (create: () => Promise<string>) => Promise<T>) => Promise<T>

export const onSqlite: WithDatabases = (work) => work(async () => newDatabase())

/** All on one server of their own, which stops afterwards. */
export const onPostgres: WithDatabases = (work) => withPostgres(({ create }) => work(create))

/** The same, with the id of the server's process. */
export async function withPostgres<T>(
  work: (server: { pid: number; create: () => Promise<string> }) => Promise<T>,
): Promise<T> {
  const cluster = await startCluster()
  if (!cluster) throw new Error('PostgreSQL is not installed')
  const admin = new Client(cluster.url)
  let created = 0
  try {
    await admin.connect()
    return await work({
      pid: cluster.pid,
      async create() {
        const name = `bench_${++created}`
        await admin.query(`CREATE DATABASE ${name}`)
        return cluster.databaseUrl(name)
      },
    })
  } finally {
    await admin.end()
    await cluster.stop()
  }
}

export function postgresMissing(): string | undefined {
  return isInstalled() ? undefined : 'PostgreSQL is not installed'
}
