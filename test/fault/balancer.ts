import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** Passes connections on to services that are ready, in turn, as a load balancer with health checks does. */
export interface Balancer {
  base_url: string
  /** Resolves once the service at that port has passed a check. */
  add(port: number): Promise<void>
  /** Its checks end. */
  remove(port: number): void
  close(): Promise<void>
}

const CHECK_MS = 50

/** Starts a balancer on a free port. */
export async function startBalancer(): Promise<Balancer> {
  const targets = new Map<number, boolean>()
  const sockets = new Set<Socket>()
  let turn = 0
  let isClosed = false

  const server = createServer((client) => {
    const ready = [...targets].flatMap(([port, isReady]) => (isReady ? [port] : []))
    const port = ready[turn++ % ready.length]
    if (port === undefined) return client.destroy()
    const service = connect(port, '127.0.0.1')
    for (const [one, other] of [
      [client, service],
      [service, client],
    ] as const) {
      sockets.add(one)
      one.on('error', () => other.destroy()).once('close', () => sockets.delete(one))
      one.pipe(other)
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')

  async function check(port: number): Promise<void> {
    const isReady = await fetch(`http://127.0.0.1:${port}/readyz`).then(
      (response) => response.ok,
      () => false,
    )
    if (targets.has(port)) targets.set(port, isReady)
  }

  async function watch(port: number): Promise<void> {
    while (targets.has(port) && !isClosed) {
      await sleep(CHECK_MS)
      await check(port)
    }
  }

  return {
    base_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async add(port) {
      targets.set(port, false)
      while (!targets.get(port)) await check(port)
      void watch(port)
    },
    remove: (port) => void targets.delete(port),
    async close() {
      isClosed = true
      server.close()
      for (const socket of sockets) socket.destroy()
      if (server.listening) await once(server, 'close')
    },
  }
}
