import type { Server } from 'node:http'
import type { Config } from '../../lib/config/parse.ts'
import type { Log } from '../../lib/context.ts'
import { MAX_HEADERS } from '../../lib/http/malformed.ts'

/** What a server lets its clients do, in Node's terms. */
export type ServerLimits = typeof SERVER_LIMITS

/** What Node allows any client is more than one needs: a minute to send headers keeps sockets taken for nothing. */
const SERVER_LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 5_000,
  // Who takes nothing of its answer for so long is gone, or means no good.
  timeout: 120_000,
  // Whatever NODE_OPTIONS says. Node looks at it when a connection comes in.
  maxHeaderSize: 16 * 1024,
  maxHeadersCount: MAX_HEADERS,
  maxConnections: 10_000,
  // A balancer in front moves on once in a while, so that new servers get their share.
  maxRequestsPerSocket: 1_000,
  connectionsCheckingInterval: 5_000,
}

/** How often it is said that connections are turned away. */
const NOTICE_MS = 60_000

/** What the configuration says of them. */
export function limitsOf({ server }: Config): Partial<ServerLimits> {
  return {
    headersTimeout: server.headers_timeout_seconds * 1000,
    requestTimeout: server.request_timeout_seconds * 1000,
    keepAliveTimeout: server.keep_alive_timeout_seconds * 1000,
    maxHeaderSize: server.max_header_bytes,
    maxConnections: server.max_connections,
  }
}

/** Sets the limits of a server that listens already; what is left out is as usual. */
export function applyLimits(server: Server, limits: Partial<ServerLimits> = {}): void {
  Object.assign(server, SERVER_LIMITS, limits)
  // The timer that enforces them was armed with the interval of before, 30 seconds; this is what arms it.
  server.emit('listening')
}

/** Says in the log, once a minute at most, that connections are turned away, and why. */
export function tellOfRefusals(server: Server, log: Log): void {
  let quietUntil = 0
  const tell = (message: string, fields: Record<string, unknown>) => {
    if (performance.now() < quietUntil) return
    quietUntil = performance.now() + NOTICE_MS
    log.warn(message, fields)
  }
  server.on('drop', () => tell('Connections are turned away.', { 'server.max_connections': server.maxConnections }))
  // Without file descriptors none can be taken. Unheard, this would end the process.
  server.on('error', (error: NodeJS.ErrnoException) => tell('Connections cannot be taken.', { code: error.code }))
}
