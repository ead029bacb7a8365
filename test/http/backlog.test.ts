import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { Server } from 'node:http'
import type { AddressInfo, NetConnectOpts } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { expect, it, onTestFinished } from 'vitest'
import { listen, type Place } from '../../lib/http/node/listen.ts'

/** More than Node's default backlog. */
const CLIENTS = 1_000

/** How long they may take while the server takes none of them: those beyond a backlog try again for longer. */
const DEADLINE_MS = 20_000

/** Connects all clients, and lets the waiting thread go on. */
const CONNECT_ALL = `
  const { connect } = require('node:net')
  const { workerData: { to, count, state } } = require('node:worker_threads')
  let open = 0
  for (let n = 0; n < count; n++) {
    connect(to)
      .on('connect', () => { if (++open === count) done(1) })
      .on('error', () => done(2))
  }
  function done(result) {
    Atomics.store(state, 0, result)
    Atomics.notify(state, 0)
  }
`

it.skipIf(systemPermits() < CLIENTS)('lets thousands connect at once while the process is busy', async () => {
  const server = await listenIn({ host: '127.0.0.1', port: 0 })
  expect(connectAll({ host: '127.0.0.1', port: (server.address() as AddressInfo).port })).toBe('connected')
})

it.skipIf(systemPermits() < CLIENTS)('does so on a Unix domain socket', async () => {
  const socket = join(folder(), 'chat.sock')
  await listenIn({ socket, mode: 0o600 })
  expect(connectAll({ path: socket })).toBe('connected')
})

async function listenIn(place: Place): Promise<Server> {
  const server = await listen((_, response) => void response.end(), place)
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return server
}

/** Connects clients of another thread while this one waits: no connection is taken meanwhile. */
function connectAll(to: NetConnectOpts): string {
  const state = new Int32Array(new SharedArrayBuffer(4))
  const worker = new Worker(CONNECT_ALL, { eval: true, workerData: { to, count: CLIENTS, state } })
  onTestFinished(async () => void (await worker.terminate()))
  Atomics.wait(state, 0, 0, DEADLINE_MS)
  return ['some wait', 'connected', 'refused'][Atomics.load(state, 0)]!
}

/** The longest backlog that the system permits: a longer one is cut. */
function systemPermits(): number {
  try {
    return Number(readFileSync('/proc/sys/net/core/somaxconn', 'utf8'))
  } catch {
    return 0
  }
}

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'chat-backlog-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  return path
}
