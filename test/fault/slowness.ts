import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { startServe } from './serving.ts'

/** The part of a request or response that the clients slow down. */
export type Kind = 'headers' | 'body' | 'reading'

export const KINDS: Kind[] = ['headers', 'body', 'reading']

/** The options of slowhttptest for each. */
const TESTS: Record<Kind, { path: string; args: string[] }> = {
  headers: { path: '/healthz', args: ['-H', '-i', '5'] },
  body: { path: '/v1/chat/completions', args: ['-B', '-i', '5', '-s', '8192', '-f', 'application/json'] },
  reading: { path: '/openapi.json', args: ['-X', '-w', '10', '-y', '20', '-n', '5', '-z', '32'] },
}

/** A service under slow clients. */
export interface Slowness {
  /** An empty database. */
  url: string
  kind: Kind
  connections: number
  seconds: number
}

/** How the other clients were served meanwhile. */
export interface SlowFigures {
  /** The output of slowhttptest for each second. */
  available: boolean
  /** The number of calls of `/healthz`, each on its own connection. */
  calls: number
  failed: number
  /** The slowest percentile of them, in milliseconds. */
  p99: number
  /** The number of slow connections that the service had closed at the end. */
  cut: number
}

/** Connects slow clients to a service, and calls it. */
export async function slowDown({ url, kind, connections, seconds }: Slowness): Promise<SlowFigures> {
  const server = await startServe(url)
  const folder = await mkdtemp(join(tmpdir(), 'chat-slow-'))
  try {
    const { path, args } = TESTS[kind]
    const report = join(folder, 'report')
    const load = ['-c', String(connections), '-r', String(Math.ceil(connections / 5)), '-l', String(seconds), '-p', '3']
    const target = ['-u', `${server.base_url}${path}`, '-g', '-o', report]
    // One-time work is done before: then calls wait for slow clients only.
    if (kind === 'reading') await (await fetch(`${server.base_url}${path}`)).arrayBuffer()
    let isOver = false
    const attack = promisify(execFile)('slowhttptest', [...args, ...load, ...target], { maxBuffer: 2 ** 26 })
    const probing = probe(`${server.base_url}/healthz`, () => isOver)
    await attack.finally(() => (isOver = true))
    const { times, failed } = await probing
    const rows = (await readFile(`${report}.csv`, 'utf8')).trim().split('\n').slice(1)
    const columns = rows.map((row) => row.split(',').map(Number))
    return {
      available: columns.length > 0 && columns.every((row) => row[4]! > 0),
      calls: times.length,
      failed,
      p99: times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)]!,
      cut: columns.at(-1)![1]!,
    }
  } finally {
    server.signal('SIGKILL')
    await server.exit
    await rm(folder, { recursive: true, force: true })
  }
}

/** Calls again and again, like a health check or a new visitor: without keep-alive. */
async function probe(url: string, isOver: () => boolean): Promise<{ times: number[]; failed: number }> {
  const times: number[] = []
  let failed = 0
  while (!isOver()) {
    const started = performance.now()
    const status = await fetch(url, { headers: { connection: 'close' } }).then(
      (response) => response.arrayBuffer().then(() => response.status),
      () => 0,
    )
    times.push(performance.now() - started)
    if (status !== 200) failed++
    await sleep(20)
  }
  return { times, failed }
}
