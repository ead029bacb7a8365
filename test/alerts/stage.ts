import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { TARGETS } from '../../cli/init/targets.ts'
import { fillIn } from '../../cli/init/write.ts'
import { parseConfig } from '../../lib/config/parse.ts'
import { type Serving, serve } from '../fault/storage/serving.ts'
import { ROOT } from '../support/example.ts'
import { freePort } from '../support/free-port.ts'
import { type Cluster, startCluster } from '../support/postgres.ts'

/** Whether Prometheus is installed; without it the tests of outages are skipped. */
export const hasPrometheus = spawnSync('prometheus', ['--version']).status === 0

/** What an outage needs, and this machine does not have: its test is skipped. */
export class Missing extends Error {}

/** How long an alert may take, with its duration divided. */
const PATIENCE_MS = 150_000

/** A service, and a Prometheus that watches it. All of it ends with `close`. */
export interface Stage {
  /** A folder for its files. */
  folder: string
  /** Aborted when the outage is over. */
  signal: AbortSignal
  /** Starts the service, on the port that Prometheus knows. */
  serve(url: string, env?: Record<string, string>): Promise<Serving>
  /** A new cluster of PostgreSQL in a folder, and the URL of an empty database. */
  postgres(parent?: string): Promise<{ cluster: Cluster; url: string }>
  /** Repeats work until the outage is over; what it throws is part of an outage. */
  repeat(work: () => Promise<unknown>, parallel?: number): void
  /** Runs at the end, the last one first. */
  onClose(end: () => unknown): void
  /** Waits for this alert. @throws Error with what Prometheus has instead */
  fires(alert: string): Promise<void>
  /** The names of the alerts that fire. */
  firing(): Promise<string[]>
  close(): Promise<void>
}

/**
 * Starts Prometheus with what `chat-server init prometheus` writes. Only durations differ: a minute of a rule takes
 * `second` seconds, and it looks each second.
 */
export async function openStage(second = 1): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), 'chat-alerts-'))
  const [port, own] = [await freePort(), await freePort()]
  const over = new AbortController()
  const loops: Promise<unknown>[] = []
  const ends: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })]
  for (const { path, text } of fillIn(TARGETS.prometheus, {
    config: parseConfig({ server: { port } }),
    output: folder,
    root: ROOT,
    program: [],
  }))
    writeFileSync(path, shortened(text, second))
  const prometheus = startPrometheus(folder, own)
  ends.push(() => end(prometheus))
  await waitUntil(async () => (await fetch(`http://127.0.0.1:${own}/-/ready`)).ok)

  const firing = async (): Promise<string[]> => {
    const response = await fetch(`http://127.0.0.1:${own}/api/v1/alerts`)
    const { data } = (await response.json()) as { data: { alerts: { state: string; labels: { alertname: string } }[] } }
    return data.alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels.alertname)
  }
  const isScraped = async () => {
    const response = await fetch(`http://127.0.0.1:${own}/api/v1/query?query=chat_ready`)
    return ((await response.json()) as { data: { result: unknown[] } }).data.result.length > 0
  }
  return {
    folder,
    signal: over.signal,
    async serve(url, env = {}) {
      const service = await serve(url, port, env)
      ends.push(() => service.isAlive() && service.kill())
      await waitUntil(isScraped)
      return service
    },
    async postgres(parent) {
      const cluster = await startCluster(parent)
      if (!cluster) throw new Missing('PostgreSQL is not installed')
      ends.push(() => cluster.stop())
      const admin = new pg.Client(cluster.url)
      await admin.connect()
      await admin.query('CREATE DATABASE chat')
      await admin.end()
      return { cluster, url: cluster.databaseUrl('chat') }
    },
    repeat(work, parallel = 1) {
      const loop = async () => {
        // A refused call may fail at once: not faster than a client repeats it.
        while (!over.signal.aborted) await work().catch(() => sleep(20))
      }
      for (let i = 0; i < parallel; i++) loops.push(loop())
    },
    onClose: (end) => void ends.push(end),
    firing,
    async fires(alert) {
      await waitUntil(async () => (await firing()).includes(alert)).catch(async () => {
        throw new Error(`${alert} does not fire, but: ${(await firing()).join(', ') || 'none'}`)
      })
    },
    async close() {
      over.abort()
      for (const end of ends.reverse()) await end()
      await Promise.all(loops)
    },
  }
}

/** The same rules, over seconds instead of minutes. */
function shortened(text: string, second: number): string {
  return text
    .replaceAll(/\b(\d+)m\b/g, (_, minutes: string) => `${Number(minutes) * second}s`)
    .replace(/(scrape_interval|evaluation_interval): 15s/g, '$1: 1s')
}

function startPrometheus(folder: string, port: number): ChildProcess {
  const args = [
    `--config.file=${join(folder, 'prometheus.yaml')}`,
    `--storage.tsdb.path=${join(folder, 'tsdb')}`,
    `--web.listen-address=127.0.0.1:${port}`,
    '--log.level=error',
  ]
  const child = spawn('prometheus', args, { stdio: ['ignore', 'ignore', 'inherit'] })
  const onExit = () => void child.kill('SIGKILL')
  process.once('exit', onExit)
  child.once('exit', () => process.off('exit', onExit))
  return child
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}

/** Waits for a fact outside this process, and looks again a few times a second. */
export async function waitUntil(isSo: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS
  while (!(await isSo().catch(() => false))) {
    if (performance.now() > deadline) throw new Error('It takes too long')
    await sleep(200)
  }
}
