import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest'
import { createChatClient } from '../../../lib/client/index.ts'
import { copyPostgresDatabase } from '../../support/databases.ts'
import { freePort } from '../../support/free-port.ts'
import { times } from '../../support/service.ts'
import { openStream, signInByHand } from '../../support/stream.ts'
import { commandOf, finished, folder, type RunOptions, run, start } from '../process.ts'
import { logged, type Serving, serve } from '../serving.ts'

const ADA = { email: 'ada@example.org', password: 'correct horse battery' }
const FAST = { CHAT_SECURITY__PASSWORD__BCRYPT_COST: '4', CHAT_DATABASE__POOL_SIZE: '3' }
/**
 * Loaded before the program of a worker: it waits while a file with the number of the worker exists, and passes a flag that
 * is unknown while another one does.
 */
const DELAY = `
  import cluster from 'node:cluster'
  import { existsSync, writeFileSync } from 'node:fs'
  const id = cluster.worker?.id
  if (id && existsSync('unknown')) process.argv.push('--unknown')
  if (id && existsSync('held-' + id)) writeFileSync('waits-' + id, '')
  while (id && existsSync('held-' + id)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
`
const delayed = (cwd: string) => ({ NODE_OPTIONS: `--import ${join(cwd, 'delay.mjs')}` })
const REPLACED = 'A worker ended and will be replaced.'

it('refuses several workers on SQLite, with the reason', async () => {
  const cwd = folder()
  const env = { CHAT_DATABASE__URL: 'sqlite:chat.db' }
  const refused = await run(['serve', '--workers', '2', '--json'], { cwd, env })
  expect(refused).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/cluster\.workers: .*SQLite.*PostgreSQL.*--workers/),
  })
  expect(JSON.parse(refused.stdout)).toMatchObject({ error: { code: 'configuration_invalid' } })
  expect(readdirSync(cwd)).toEqual([])
})

describe.skipIf(!inject('postgres_url') || process.platform !== 'linux')('a service of several workers', () => {
  let url: string
  let remove: () => Promise<void>
  beforeAll(async () => {
    ;({ url, remove } = await copyPostgresDatabase())
  })
  afterAll(() => remove())

  const env = () => ({ ...FAST, CHAT_DATABASE__URL: url })
  const startAll = async (
    count: number,
    { cwd = folder(), env: more, ...rest }: Partial<RunOptions> = {},
    ...args: string[]
  ) => {
    const options = { ...rest, cwd, env: { ...env(), ...more } }
    const server = await serve(options, '--json', '--workers', String(count), ...args)
    onTestFinished(() => {
      for (const pid of workersOf(server)) process.kill(pid, 'SIGKILL')
    })
    return server
  }

  it('prints one greeting when all listen, serves from all of them, and drains all on SIGTERM', async () => {
    const server = await startAll(2)
    expect(JSON.parse(server.greeting)).toMatchObject({
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:[1-9]\d*$/),
    })
    const pids = workersOf(server)
    expect(pids).toHaveLength(2)
    const { streams } = await openStreams(server, 6)
    // Each worker has some of them.
    process.kill(pids[0]!, 'SIGTERM')
    const kept: boolean[] = await Promise.all(
      streams.map(async (stream) => {
        const ending = stream.until('stream.closed').then(() => true)
        const quiet = new Promise<boolean>((resolve) => setTimeout(resolve, 3_000, false))
        return !(await Promise.race([ending, quiet]))
      }),
    )
    expect(new Set(kept)).toEqual(new Set([true, false]))
    // It is replaced.
    while (workersOf(server).length < 2 || (await metricsOf(server)).chat_workers !== 2);

    const { streams: later } = await openStreams(server, 4)
    const remaining = workersOf(server)
    server.child.kill('SIGTERM')
    for (const stream of later) {
      const [last] = (await stream.until('stream.closed')).slice(-1)
      expect(last!.event).toMatchObject({ payload: { reason: 'draining' } })
    }
    const { code, stdout, stderr } = await server.end
    expect({ code, stdout }).toEqual({ code: 0, stdout: server.greeting })
    expect(stderr).toMatch(/"Listening\.".*"workers":2,/)
    expect(stderr.match(/"Draining\."/g)).toHaveLength(2)
    expect(remaining.filter(isAlive)).toEqual([])
  }, 60_000)

  it('replaces a killed worker, and counters on /metrics never fall', async () => {
    const server = await startAll(2)
    for (const _ of times(20, () => {})) await (await fetch(`${server.url}/api/setup`)).text()
    const before = await metricsOf(server)
    expect(before.chat_workers).toBe(2)
    const replaced = logged(server, REPLACED)
    process.kill(workersOf(server)[0]!, 'SIGKILL')
    await replaced
    const between = await metricsOf(server)
    while (workersOf(server).length < 2 || (await metricsOf(server)).chat_workers !== 2);
    const after = await metricsOf(server)
    expect(between.chat_workers).toBe(1)
    const counters = Object.keys(before).filter((series) => /_(total|count|sum|bucket)(\{|$)/.test(series))
    expect(counters.length).toBeGreaterThan(30)
    for (const series of counters) {
      expect(between[series], series).toBeGreaterThanOrEqual(before[series]!)
      expect(after[series], series).toBeGreaterThanOrEqual(between[series]!)
    }
    await stop(server)
  }, 60_000)

  it('shows metrics within a second or so while a worker hangs, without a fall of its counters', async () => {
    const server = await startAll(2, { env: { CHAT_METRICS__TOKEN: 'let-me-look' } })
    const look = () => metricsOf(server, 'let-me-look')
    expect((await fetch(`${server.url}/metrics`)).status).toBe(401)
    const before = await look()
    const [hanging] = workersOf(server)
    process.kill(hanging!, 'SIGSTOP')
    onTestFinished(() => void (isAlive(hanging!) && process.kill(hanging!, 'SIGCONT')))
    // The hanging worker gets at most one connection, which must not hold up the others.
    const started = performance.now()
    const during = await Promise.any(times(4, look))
    expect(performance.now() - started).toBeLessThan(5_000)
    expect([before.chat_workers, during.chat_workers]).toEqual([2, 1])
    for (const series of Object.keys(before))
      if (series.endsWith('_total')) expect(during[series], series).toBeGreaterThanOrEqual(before[series]!)
    process.kill(hanging!, 'SIGCONT')
    await stop(server)
  }, 60_000)

  it('ends on SIGTERM also while a worker starts', async () => {
    const server = await startAll(2)
    const former = workersOf(server)
    process.kill(former[0]!, 'SIGKILL')
    await expect.poll(() => workersOf(server).some((pid) => !former.includes(pid)), { interval: 5 }).toBe(true)
    server.child.kill('SIGTERM')
    expect(await server.end).toMatchObject({ code: 0 })
  }, 60_000)

  it('replaces a worker as soon as the system can start one again, and serves until then', async () => {
    const cwd = folder()
    const [bin, away] = [join(cwd, 'bin'), join(cwd, 'away')]
    mkdirSync(bin)
    copyFileSync(process.execPath, join(bin, 'node'))
    const server = await startAll(2, { cwd, node: join(bin, 'node') })
    renameSync(bin, away)
    const missing = logged(server, 'bin/node does not exist')
    process.kill(workersOf(server)[0]!, 'SIGKILL')
    await missing
    // Of this one Node throws, while it emits the other.
    const unusable = logged(server, 'ENOTDIR')
    writeFileSync(bin, '')
    await unusable
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
    rmSync(bin)
    renameSync(away, bin)
    while ((await metricsOf(server)).chat_workers !== 2) await pause()

    renameSync(bin, away)
    const again = logged(server, 'bin/node does not exist')
    process.kill(workersOf(server)[0]!, 'SIGKILL')
    await again
    await stop(server)
  }, 120_000)

  it('kills a worker that hangs, some time after it was to have drained, and logs that', async () => {
    const server = await startAll(2)
    const [hanging] = workersOf(server)
    process.kill(hanging!, 'SIGSTOP')
    server.child.kill('SIGTERM')
    const { code, stderr } = await server.end
    expect([code, stderr]).toEqual([0, expect.stringContaining('A worker has not drained in time, and is killed.')])
    expect(isAlive(hanging!)).toBe(false)
  }, 120_000)

  it('ends also when its log is no longer read: a worker that ends makes the pipe block for all', async () => {
    const cwd = folder()
    const log = createPipe(join(cwd, 'log'))
    const [program, ...args] = commandOf(['serve', '--json', '--workers', '2', '--port', '0'])
    const delay = { CHAT_SERVER__DRAIN_DELAY_SECONDS: '1' }
    const child = spawn(program!, args, {
      cwd,
      env: { PATH: process.env.PATH, ...env(), ...delay },
      stdio: ['ignore', 'pipe', log.end],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const exit = once(child, 'exit')
    await once(child.stdout!, 'data')
    child.kill('SIGTERM')
    while (!log.read().includes('Draining.')) await pause()
    log.fill()
    expect(await exit).toEqual([0, null])
  }, 60_000)

  it('has workers that start take a reload that reached none of them', async () => {
    const cwd = folder({ 'chat-server.toml': '[log]\nlevel = "info"\n' })
    const server = await startAll(2, { cwd })
    for (const pid of workersOf(server)) process.kill(pid, 'SIGKILL')
    while (workersOf(server).length > 0) await pause()
    writeFileSync(join(cwd, 'chat-server.toml'), '[metrics]\ntoken = "secret"\n')
    const reloaded = logged(server, '"metrics.token"')
    server.child.kill('SIGHUP')
    await reloaded
    while ((await metricsOf(server, 'secret').catch(() => ({ chat_workers: 0 }))).chat_workers !== 2) await pause()
    await expect
      .poll(async () => new Set(await Promise.all(times(8, () => metricsStatus(server)))))
      .toEqual(new Set([401]))
    await stop(server)
  }, 120_000)

  it('drains the workers that serve already, when SIGTERM arrives before all do', async () => {
    const cwd = folder({ 'delay.mjs': DELAY, 'held-2': '' })
    const port = await freePort()
    const child = start(['serve', '--workers', '2', '--port', String(port)], {
      cwd,
      env: { ...delayed(cwd), ...env() },
    })
    const end = finished(child)
    while ((await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined))?.status !== 200) await pause()
    const socket = connect(port, '127.0.0.1')
    const body = JSON.stringify({ email: 'nobody@example.org', password: 'wrong password' })
    const head = `POST /api/auth/login HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nExpect: 100-continue`
    socket.write(`${head}\r\nContent-Length: ${body.length}\r\n\r\n`)
    await once(socket, 'data')
    const stopping = logged({ child }, 'Asked to stop before it was up.')
    child.kill('SIGTERM')
    await stopping
    rmSync(join(cwd, 'held-2'))
    socket.write(body)
    const [answer] = await once(socket, 'data')
    expect(String(answer)).toMatch(/^HTTP\/1\.1 401/)
    expect(await end).toMatchObject({ code: 0, stdout: '' })
  }, 120_000)

  it('ends all workers when each has failed to start, also those that replace one', async () => {
    const cwd = folder({ 'delay.mjs': DELAY, 'held-1': '', 'held-2': '', 'held-3': '' })
    const port = await freePort()
    const child = start(['serve', '--workers', '2', '--port', String(port)], {
      cwd,
      env: { ...delayed(cwd), ...env() },
    })
    const end = finished(child)
    while (!existsSync(join(cwd, 'waits-1'))) await pause()
    const taken = createServer().listen(port, '127.0.0.1')
    await once(taken, 'listening')
    onTestFinished(() => void taken.close())
    rmSync(join(cwd, 'held-1'))
    while (!existsSync(join(cwd, 'waits-3'))) await pause()
    rmSync(join(cwd, 'held-2'))
    expect(await end).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`chat-server: Cannot listen on 127.0.0.1:${port}: the port is taken\n`),
    })
  }, 120_000)

  it('replaces a worker that cannot use the command line, as one of another version', async () => {
    const cwd = folder({ 'delay.mjs': DELAY })
    const server = await startAll(2, { cwd, env: delayed(cwd) })
    writeFileSync(join(cwd, 'unknown'), '')
    const refused = logged(server, '"code":2,')
    process.kill(workersOf(server)[0]!, 'SIGKILL')
    await refused
    rmSync(join(cwd, 'unknown'))
    while ((await metricsOf(server)).chat_workers !== 2) await pause()
    await stop(server)
  }, 120_000)

  it('ends its workers, after they have drained, when the primary process is killed', async () => {
    const server = await startAll(2)
    const pids = workersOf(server)
    const { streams } = await openStreams(server, 2)
    server.child.kill('SIGKILL')
    for (const stream of streams) {
      const [last] = (await stream.until('stream.closed')).slice(-1)
      expect(last!.event).toMatchObject({ payload: { reason: 'draining' } })
    }
    while (pids.some(isAlive)) await pause()
    expect((await server.end).code).toBeNull()
  }, 60_000)

  it('ends at once on the second signal, workers included, and serves on at SIGHUP', async () => {
    const server = await startAll(2, { env: { CHAT_SERVER__DRAIN_DELAY_SECONDS: '60' } })
    const pids = workersOf(server)
    const draining = logged(server, 'Draining.')
    server.child.kill('SIGTERM')
    await draining
    expect(pids.every(isAlive)).toBe(true)
    server.child.kill('SIGTERM')
    expect((await server.end).code).toBe(130)
    while (pids.some(isAlive)) await pause()

    const other = await startAll(2, { env: { CHAT_SERVER__DRAIN_DELAY_SECONDS: '60' } })
    const others = workersOf(other)
    const reloaded = logged(other, 'Reloaded the configuration')
    for (const pid of [...others, other.child.pid!]) process.kill(pid, 'SIGHUP')
    await reloaded
    expect((await fetch(`${other.url}/readyz`)).status).toBe(200)
    expect(others.every(isAlive)).toBe(true)
    // Two of one kind at once would be one.
    for (const signal of ['SIGTERM', 'SIGINT'] as const) other.child.kill(signal)
    await other.end
    while (others.some(isAlive)) await pause()
  }, 60_000)

  it('drains once when a terminal sends Ctrl-C to all processes', async () => {
    const server = await startAll(2)
    const { streams } = await openStreams(server, 2)
    for (const pid of [...workersOf(server), server.child.pid!]) process.kill(pid, 'SIGINT')
    for (const stream of streams) await stream.until('stream.closed')
    expect((await server.end).code).toBe(0)
  }, 60_000)

  it('ends with the first error when no worker can start', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    onTestFinished(() => void taken.close())
    const port = String((taken.address() as AddressInfo).port)
    const env = { ...FAST, CHAT_DATABASE__URL: url }
    const failed = await run(['serve', '--workers', '3', '--port', port], { cwd: folder(), env })
    expect(failed).toMatchObject({ code: 1, stdout: '' })
    expect(failed.stderr.match(/chat-server: /g)).toHaveLength(1)
    expect(failed.stderr).toContain(`chat-server: Cannot listen on 127.0.0.1:${port}: the port is taken\n`)
  }, 60_000)

  it('keeps serving when a newer version has migrated the database, and logs why a worker cannot be replaced', async () => {
    const server = await startAll(2)
    const db = new Client({ connectionString: url })
    await db.connect()
    onTestFinished(() => db.end())
    await db.query("INSERT INTO meta (name, value) VALUES ('schema_major', '2')")
    onTestFinished(() => void db.query("DELETE FROM meta WHERE name = 'schema_major'").catch(() => {}))
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
    const refused = logged(server, 'is newer than this program can use')
    process.kill(workersOf(server)[0]!, 'SIGKILL')
    await refused
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
    await db.query("DELETE FROM meta WHERE name = 'schema_major'")
    while ((await metricsOf(server)).chat_workers !== 2) await pause()
    await stop(server)
  }, 60_000)

  it('closes connections beyond the limit, and responds on those that are open', async () => {
    const env = { CHAT_SERVER__MAX_CONNECTIONS: '5', CHAT_SERVER__KEEP_ALIVE_TIMEOUT_SECONDS: '60' }
    const server = await startAll(2, { env })
    const sockets: Socket[] = []
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy()
    })
    /** Opens a connection, which stays open. @returns the answer to its request; `undefined` if it is closed instead */
    const ask = () => {
      const socket = connect(Number(new URL(server.url).port), '127.0.0.1').on('error', () => {})
      sockets.push(socket)
      socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n')
      return new Promise<string | undefined>((resolve) => {
        socket.once('data', (answer) => resolve(String(answer))).once('close', () => resolve(undefined))
      })
    }
    const answers: string[] = []
    // A worker may be full before the other one.
    while (answers.length < 10) answers.push(...[await ask()].flatMap((answer) => answer ?? []))
    for (const answer of answers) expect(answer).toMatch(/^HTTP\/1\.1 200/)
    expect(await Promise.all(times(10, ask))).toEqual(times(10, () => undefined))
    for (const socket of sockets) socket.destroy()
    await stop(server)
  }, 60_000)
})

/** A pipe: `end` is for the process that writes to it. */
function createPipe(path: string) {
  execFileSync('mkfifo', [path])
  const own = openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
  const end = openSync(path, 'w')
  onTestFinished(() => {
    for (const fd of [own, end]) closeSync(fd)
  })
  const attempt = (call: () => number): number => {
    try {
      return call()
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return 0
      throw error
    }
  }
  return {
    end,
    /** What it holds. */
    read(): string {
      const held = Buffer.alloc(1 << 16)
      return held.toString(
        'utf8',
        0,
        attempt(() => readSync(own, held)),
      )
    },
    /** Writes until it takes no more. */
    fill(): void {
      for (const size of [4096, 1]) while (attempt(() => writeSync(own, Buffer.alloc(size))) > 0);
    },
  }
}

/** The processes that a service has started. */
function workersOf({ child }: Serving): number[] {
  if (child.exitCode !== null || child.signalCode !== null) return []
  const list = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')
  return list.split(' ').filter(Boolean).map(Number)
}

function isAlive(pid: number): boolean {
  try {
    // A zombie counts as ended: its parent has been killed, and it is not reaped yet.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

/** The values on the page, by series. */
async function metricsOf({ url }: Serving, token?: string): Promise<Record<string, number>> {
  const headers = { connection: 'close', ...(token && { authorization: `Bearer ${token}` }) }
  const page = await (await fetch(`${url}/metrics`, { headers })).text()
  const lines = page.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]))
}

async function metricsStatus({ url }: Serving): Promise<number> {
  return (await fetch(`${url}/metrics`, { headers: { connection: 'close' } })).status
}

/** Streams of one conversation, each on a connection of its own. */
async function openStreams({ url }: Serving, count: number) {
  const ada = createChatClient({ base_url: url })
  await ada.setup.run(ADA).catch(() => {})
  await ada.auth.login(ADA)
  const { conversation_id } = await ada.conversations.create()
  const { cookie } = await signInByHand(url, ADA.email, ADA.password)
  const streams = await Promise.all(times(count, () => openStream(url, conversation_id, { cookie })))
  for (const stream of streams) await stream.until('stream.ready')
  return { ada, conversation_id, streams }
}

async function stop(server: Serving): Promise<void> {
  server.child.kill('SIGTERM')
  expect((await server.end).code).toBe(0)
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 20))
}
