import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { openStorage } from '../../../lib/index.ts'
import { runDoctor } from '../../cli/run-checks.ts'
import { MEMORY } from '../../support/memory.ts'
import { type Cluster, isInstalled, startCluster } from '../../support/postgres.ts'
import { times } from '../../support/service.ts'

describe.skipIf(!isInstalled())('the connections of PostgreSQL', () => {
  let cluster: Cluster
  let url: string
  beforeAll(async () => {
    cluster = (await startCluster(MEMORY))!
    await run(cluster.url, 'CREATE ROLE chat LOGIN', 'CREATE DATABASE chat OWNER chat', 'CREATE DATABASE other')
    url = asChat(cluster.databaseUrl('chat'))
    const storage = await openStorage({ database: url })
    await storage.migrate()
    await storage.close()
  })
  afterAll(() => cluster.stop())

  const asChat = (address: string) => address.replace('//postgres@', '//chat@')
  const run = async (address: string, ...statements: string[]) => {
    const client = new Client({ connectionString: address })
    await client.connect()
    for (const statement of statements) await client.query(statement)
    await client.end()
  }
  /** Opens connections for the time of a test. */
  const connect = async (count: number, connectionString: string, application_name: string) => {
    const clients = times(count, () => new Client({ connectionString, application_name }))
    onTestFinished(async () => void (await Promise.all(clients.map((client) => client.end()))))
    await Promise.all(clients.map((client) => client.connect()))
  }
  const judged = async (pool_size = 10) => {
    const found = await runDoctor({ server: { port: 9 }, database: { url, pool_size, application_name: 'machine-c' } })
    return found.get('database.connections') ?? found.get('database.few_connections')
  }

  it('connections of nodes with other names count as those of the service, those of other programs do not', async () => {
    await connect(5, url, 'machine-a')
    await connect(7, url, 'machine-b')
    // Of the 200, three are reserved for superusers.
    expect(await judged()).toMatchObject({
      code: 'database.connections',
      message: expect.stringMatching(/^The server has 197 connections for services \(max_connections\); a process /),
    })
    await connect(2, cluster.databaseUrl('other'), 'machine-a')
    await connect(3, asChat(cluster.databaseUrl('other')), 'machine-a')
    await connect(4, cluster.databaseUrl('chat'), 'machine-a')
    expect((await judged())?.message).toContain('The server has 188 connections')
  })

  it('connections are as many as the role may have, if that is less', async () => {
    await run(cluster.url, 'ALTER ROLE chat CONNECTION LIMIT 40')
    onTestFinished(() => run(cluster.url, 'ALTER ROLE chat CONNECTION LIMIT -1'))
    await connect(20, url, 'machine-a')
    await connect(1, asChat(cluster.databaseUrl('other')), 'reports')
    expect(await judged()).toMatchObject({
      code: 'database.connections',
      message: expect.stringMatching(
        /^The role chat has 39 connections for services \(CONNECTION LIMIT\); .*for 3 proc/,
      ),
    })
    expect(await judged(40)).toMatchObject({
      code: 'database.few_connections',
      severity: 'warning',
      remedy: expect.stringContaining('ALTER ROLE … CONNECTION LIMIT'),
    })
  })

  it('connections are as many as the database may have, if that is less', async () => {
    await run(cluster.url, 'ALTER ROLE chat CONNECTION LIMIT 40', 'ALTER DATABASE chat CONNECTION LIMIT 15')
    onTestFinished(() =>
      run(cluster.url, 'ALTER ROLE chat CONNECTION LIMIT -1', 'ALTER DATABASE chat CONNECTION LIMIT -1'),
    )
    await connect(2, cluster.databaseUrl('chat'), 'backup')
    expect(await judged()).toMatchObject({
      code: 'database.connections',
      message: expect.stringMatching(/^The database chat has 13 connections for services \(CONNECTION LIMIT\); /),
    })
  })

  it('connections of a superuser are not limited by its role', async () => {
    await run(cluster.url, 'ALTER ROLE postgres CONNECTION LIMIT 5')
    onTestFinished(() => run(cluster.url, 'ALTER ROLE postgres CONNECTION LIMIT -1'))
    const found = await runDoctor({ server: { port: 9 }, database: { url: cluster.databaseUrl('chat') } })
    expect(found.get('database.connections')?.message).toContain('The server has 197 connections')
  })
})
