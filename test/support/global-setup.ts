import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from 'pg'
import type { TestProject } from 'vitest/node'
import { openStorage } from '../../lib/storage/open.ts'
import { MEMORY } from './memory.ts'
import { startSharedPooler } from './pooled.ts'
import { type Cluster, startCluster } from './postgres.ts'

declare module 'vitest' {
  interface ProvidedContext {
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
  const folder = await mkdtemp(join(MEMORY, 'chat-template-'))
  const templates = { sqlite: join(folder, 'chat.db'), postgresql: 'template_chat' }
  const cluster = await startCluster(MEMORY)
  if (!cluster) console.log('PostgreSQL tests skipped: initdb not found')
  await migrate(`sqlite:${templates.sqlite}`)
  if (cluster) await createTemplate(cluster, templates.postgresql)
  const isPooled = project.vitest.projects.some(({ name }) => name.startsWith('pooled'))
  const pooler = cluster && isPooled ? await startSharedPooler(cluster.url) : undefined
  project.provide('postgres_url', cluster?.url ?? null)
  project.provide('pooled_url', pooler?.url ?? null)
  project.provide('templates', templates)
  return async () => {
    await rm(folder, { recursive: true, force: true })
    await pooler?.stop()
    await cluster?.stop()
  }
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
