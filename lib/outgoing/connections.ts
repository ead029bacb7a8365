import { Agent, type ClientRequest, type ClientRequestArgs, request } from 'node:http'
import type { Socket } from 'node:net'
import type { SecureContextOptions } from 'node:tls'
import { openConnection, type Route } from './connecting.ts'

/** How long a connection stays open for another request. */
const IDLE_TIMEOUT_MS = 60_000

/** Connections that wait for another request, of one route and in all. */
const MAX_IDLE = { route: 8, all: 256 }

/** Far above the head of any answer. */
const MAX_HEADER_BYTES = 16 * 1024

/** What `Agent` hands on, which is more than its types have. */
interface ConnectionOptions {
  route: Route
  opening: AbortSignal
  connect_ms: number | undefined
}
type Done = (error: Error | null, socket?: Socket) => void

type RequestOptions = Pick<ClientRequestArgs, 'method' | 'path' | 'headers'> & {
  signal: AbortSignal
  connect_ms: number | undefined
}

/** The connections of one service, which are kept open for a while. */
export interface Connections {
  /** Begins a request over a connection of this route, new or kept. Nothing of it is sent before a connection is open. */
  request(route: Route, options: RequestOptions): ClientRequest
  hasIdle(route: Route): boolean
  /** Closes those of a route that wait. */
  dropIdle(route: Route): void
  close(): void
}

/** @param authorities certificates of authorities to trust instead of those that Node trusts */
export function createConnections(authorities?: SecureContextOptions['ca']): Connections {
  // Node's own name has no host, and a certificate is checked for one host only.
  const nameOf = ({ host, address, port, is_secure, proxy }: Route) =>
    JSON.stringify([host, address, port, is_secure, proxy])
  const agent = new Agent({
    keepAlive: true,
    timeout: IDLE_TIMEOUT_MS,
    maxFreeSockets: MAX_IDLE.route,
    scheduling: 'lifo',
  })
  const { keepSocketAlive } = agent as unknown as { keepSocketAlive: (socket: Socket) => boolean }
  Object.assign(agent, {
    getName: ({ route }: ConnectionOptions) => nameOf(route),
    createConnection({ route, opening, connect_ms }: ConnectionOptions, done: Done) {
      openConnection(route, { signal: opening, connect_ms, authorities }).then(
        (socket) => done(null, socket),
        (error: Error) => done(error),
      )
    },
    keepSocketAlive(socket: Socket) {
      const idle = Object.values(agent.freeSockets).reduce((sum, sockets) => sum + (sockets?.length ?? 0), 0)
      return idle < MAX_IDLE.all && keepSocketAlive.call(agent, socket)
    },
  })
  const idleOf = (route: Route) => (agent.freeSockets[nameOf(route)] ?? []).filter((socket) => !socket.destroyed)

  return {
    request: (route, { signal, ...options }) =>
      request({
        ...options,
        ...{ agent, route, opening: signal, signal },
        setHost: false,
        insecureHTTPParser: false,
        maxHeaderSize: MAX_HEADER_BYTES,
      } as ClientRequestArgs),
    hasIdle: (route) => idleOf(route).length > 0,
    dropIdle: (route) => {
      for (const socket of idleOf(route)) socket.destroy()
    },
    close: () => agent.destroy(),
  }
}
