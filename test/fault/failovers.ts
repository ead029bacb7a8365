import pg from 'pg'
import type { Cluster, Standby } from '../support/postgres.ts'
import { type FailoverLoad, startFailoverLoad } from './failover-load.ts'
import { type ServeProcess, startServe } from './serving.ts'
import { type CutProxy, startProxy } from './storage/proxy.ts'

/** The result of a run. Times are from the moment that a server takes writes until both nodes have stored a post. */
export interface FailoverFigures {
  switched_over_ms: number
  failed_over_ms: number
  started_again_ms: number
  acknowledged: number
  refused: number
  events: number
  reconnects: number
  faults: string[]
}

/** What is to be replaced, under which load. */
interface Scene {
  proxy: CutProxy
  load: FailoverLoad
}

/**
 * Replaces the PostgreSQL of two nodes under load: by a switchover whose old server goes on read-only with the connections
 * that it has, by a failover to a synchronous standby, and by the same server after a crash.
 */
export async function failOver(primary: Cluster, onStep: (what: string) => void = () => {}): Promise<FailoverFigures> {
  const proxy = await startProxy(primary.url)
  const nodes: ServeProcess[] = []
  const standbys: Standby[] = []
  const addStandby = async (server: Cluster) => {
    const standby = await startSynchronousStandby(server)
    standbys.push(standby)
    return standby
  }
  try {
    // Transactions that need not be durable are then lost by each crash.
    await run(primary, "ALTER SYSTEM SET wal_writer_delay = '10s'", 'SELECT pg_reload_conf()')
    while (nodes.length < 2) nodes.push(await startServe(proxy.url))
    const scene = { proxy, load: await startFailoverLoad(nodes) }
    const first = await addStandby(primary)
    const switched_over_ms = await switchOver(scene, primary, first)
    onStep('switched over')
    const second = await addStandby(first)
    const failed_over_ms = await crash(scene, first, second)
    onStep('failed over')
    const started_again_ms = await crash(scene, second)
    onStep('started again')
    return { switched_over_ms, failed_over_ms, started_again_ms, ...(await scene.load.finish()) }
  } finally {
    for (const node of nodes) node.signal('SIGKILL')
    await Promise.all(nodes.map((node) => node.exit))
    await proxy.close()
    await Promise.all(standbys.map((each) => each.stop()))
  }
}

/** Starts a standby, without which the server acknowledges nothing from now on. */
async function startSynchronousStandby(server: Cluster): Promise<Standby> {
  const standby = await server.startStandby()
  await run(server, "ALTER SYSTEM SET synchronous_standby_names = '*'", 'SELECT pg_reload_conf()')
  while ((await run(server, "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'")).length === 0);
  return standby
}

/** The old server keeps its connections, and refuses writes. */
async function switchOver({ proxy, load }: Scene, from: Cluster, to: Standby): Promise<number> {
  await load.progress()
  await run(from, 'ALTER SYSTEM SET default_transaction_read_only = on', 'SELECT pg_reload_conf()')
  await to.promote()
  proxy.switchTo(to.url)
  return progressOf(load)
}

/** The server crashes; its standby takes over, or it starts again itself. */
async function crash({ proxy, load }: Scene, server: Cluster, standby?: Standby): Promise<number> {
  await load.progress()
  await load.quietly(async () => {
    // As by typing and presence of many users.
    await run(server, 'SET synchronous_commit = off', ...Array<string>(200).fill('SELECT pg_current_xact_id()'))
    await load.follow()
  })
  if (standby) {
    await server.crash(async () => {
      // As an address that moves too early: it leads to a server that is still a standby.
      proxy.switchTo(standby.url)
      await load.refused()
      await standby.promote()
    })
  } else await server.crash()
  return progressOf(load)
}

async function progressOf(load: FailoverLoad): Promise<number> {
  const start = performance.now()
  await load.progress()
  return performance.now() - start
}

/** Runs statements one after another. @returns the rows of the last one */
async function run({ url }: Cluster, ...statements: string[]): Promise<object[]> {
  const client = new pg.Client(url)
  client.on('error', () => {})
  await client.connect()
  let rows: object[] = []
  for (const statement of statements) rows = (await client.query(statement)).rows
  await client.end()
  return rows
}
