import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from 'pg'
import type { TestProject } from 'vitest/node'
import { openStorage } from '../../lib/storage/open.ts'
import { MEMORY } from './memory.ts'
import { startSharedPooler } from './pooled.ts'
import { type Cluster, prepareClusters, startCluster } from './postgres.ts'
import { LINE_PREFIX, unexpectedErrors } from './postgres-errors.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** A folder in memory, if there is room, which is removed at the end of the run. */
    folder: string
    /** The URL of the database `postgres` in the cluster of this run; `null` if PostgreSQL is not installed. */
    postgres_url: string | null
    /** The same through PgBouncer; `null` if no part of the run is behind it. */
    pooled_url: string | null
    /** The template databases: each has the whole schema and no row. */
    templates: { sqlite: string; postgresql: string }
  }
}

/** Starts one PostgreSQL for the whole run and creates the schema once per kind of database: a test gets a copy. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(MEMORY, 'chat-run-'))
  const templates = { sqlite: join(folder, 'chat.db'), postgresql: 'template_chat' }
  const removeClusterFiles = await prepareClusters(MEMORY)
  const cluster = await startCluster(MEMORY, { log_line_prefix: LINE_PREFIX })
  if (!cluster) console.log('PostgreSQL tests skipped: initdb not found')
  await migrate(`sqlite:${templates.sqlite}`)
  if (cluster) await createTemplate(cluster, templates.postgresql)
  const isPooled = project.vitest.projects.some(({ name }) => name.startsWith('pooled'))
  const pooler = cluster && isPooled ? await startSharedPooler(cluster.url) : undefined
  project.provide('folder', folder)
  project.provide('postgres_url', cluster?.url ?? null)
  project.provide('pooled_url', pooler?.url ?? null)
  project.provide('templates', templates)
  return async () => {
    await pooler?.stop()
    report(unexpectedErrors((await cluster?.readLog()) ?? ''))
    await cluster?.stop()
    await removeClusterFiles()
    // Last, as what it cannot remove must hide no failure.
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Fails the run: a statement that PostgreSQL does not take may have its failure handled, and no test then shows it. */
function report(errors: string[]): void {
  if (errors.length === 0) return
  process.exitCode = 1
  console.error(
    `The log of PostgreSQL has ${errors.length} errors that test/support/postgres-errors.ts does not expect:`,
  )
  for (const error of errors.slice(0, 20)) console.error(`  ${error}`)
}

async function createTemplate(cluster: Cluster, name: string): Promise<void> {
  const client = new Client({ connectionString: cluster.url })
  await client.connect()
  await client.query(`CREATE DATABASE ${name}`)
  await client.end()
  await migrate(cluster.databaseUrl(name))
}

async function migrate(database: string): Promise<void> {
  const storage = await openStorage({ database })
  await storage.migrate()
  await storage.close()
}
