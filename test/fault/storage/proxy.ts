import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A proxy between a service and its database, which can interrupt connections. */
export interface CutProxy {
  /** The URL of the database through the proxy. */
  url: string
  /** Forwards nothing any more, like a network that drops packets; the data is kept. */
  hold(): void
  /** Forwards everything again. */
  release(): void
  /** Silently stops forwarding on the existing connections for good; new ones work. */
  lose(): void
  /** Closes every connection, and refuses new ones. */
  cut(): void
  /** Accepts connections again. */
  mend(): void
  /** Connects new connections to another server on a unix socket; the existing ones stay where they are. */
  switchTo(url: string): void
  /** Whether to drop the responses to each COMMIT, and the connection: it succeeds without an acknowledgement. */
  loseCommits(losing: boolean): void
  /** The number of requests after a response, or at the start of a connection. */
  roundTrips(): number
  close(): Promise<void>
}

/** `Q`, the length, and the text: how a statement without parameters is sent (https://www.postgresql.org/docs/current/protocol-message-formats.html). */
const COMMIT = Buffer.from('Q\0\0\0\x0bCOMMIT\0', 'latin1')

/** The tag of its response. */
const COMMITTED = Buffer.from('COMMIT\0', 'latin1')

/** Starts a proxy in front of a database on a unix socket. */
export async function startProxy(url: string): Promise<CutProxy> {
  let socketPath = socketOf(url)
  const pairs = new Set<{ client: Socket; server: Socket }>()
  const lost = new Set<Socket>()
  let [held, refusing, losing] = [false, false, false]
  let roundTrips = 0

  const listener = createServer((client) => {
    if (refusing) return void client.destroy()
    const server = connect(socketPath)
    const pair = { client, server }
    pairs.add(pair)
    let doomed = false
    let answered = true
    const end = () => {
      pairs.delete(pair)
      client.destroy()
      server.destroy()
    }
    for (const socket of [client, server]) socket.on('error', () => {}).on('close', end)
    client.on('data', (bytes) => {
      if (losing && bytes.includes(COMMIT)) doomed = true
      if (answered) roundTrips++
      answered = false
      server.write(bytes)
    })
    server.on('data', (bytes) => {
      answered = true
      if (!doomed) client.write(bytes)
      // Statements before it are answered first.
      else if (bytes.includes(COMMITTED)) end()
    })
    if (held) for (const socket of [client, server]) socket.pause()
  }).listen(0, '127.0.0.1')
  await once(listener, 'listening')

  const each = (what: (socket: Socket) => void) => {
    for (const { client, server } of pairs) [client, server].forEach(what)
  }
  const through = new URL(url)
  through.searchParams.delete('host')
  through.host = `127.0.0.1:${(listener.address() as AddressInfo).port}`
  return {
    url: through.href,
    hold() {
      held = true
      each((socket) => socket.pause())
    },
    release() {
      held = false
      each((socket) => socket.resume())
    },
    lose() {
      held = false
      each((socket) => lost.add(socket.pause()))
      pairs.clear()
    },
    cut() {
      refusing = true
      each((socket) => socket.destroy())
    },
    mend() {
      refusing = false
    },
    switchTo(other) {
      socketPath = socketOf(other)
    },
    loseCommits(wanted) {
      losing = wanted
    },
    roundTrips: () => roundTrips,
    async close() {
      each((socket) => socket.destroy())
      for (const socket of lost) socket.destroy()
      await new Promise((done) => listener.close(done))
    },
  }
}

const socketOf = (url: string) => `${new URL(url).searchParams.get('host')}/.s.PGSQL.5432`
