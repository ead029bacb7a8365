import type { TestProject } from 'vitest/node'
import { startCluster } from './postgres.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Of the database `postgres` in the cluster of this run; `null` where PostgreSQL is not installed. */
    postgres_url: string | null
  }
}

/** One PostgreSQL for the whole run: a second to start, and every test takes a database of its own in it. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const cluster = await startCluster()
  if (!cluster) console.log('PostgreSQL tests skipped: initdb not found')
  project.provide('postgres_url', cluster?.url ?? null)
  return async () => cluster?.stop()
}
