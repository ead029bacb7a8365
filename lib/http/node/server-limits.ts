import cluster from 'node:cluster'
import type { Server } from 'node:http'
import type { Config } from '../../config/parse.ts'
import type { Log } from '../../context.ts'
import { MAX_HEADERS } from '../request/malformed.ts'

/** What a server permits its clients, in Node's terms. */
export type ServerLimits = typeof SERVER_LIMITS

/** Node's defaults permit more than a client needs: a minute to send headers keeps idle sockets open. */
const SERVER_LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 5_000,
  // A client that reads nothing of its response for this long is disconnected or hostile.
  timeout: 120_000,
  // Overrides NODE_OPTIONS. Node reads it when it accepts a connection.
  maxHeaderSize: 16 * 1024,
  maxHeadersCount: MAX_HEADERS,
  maxConnections: 10_000,
  // A load balancer in front reconnects once in a while, so that new servers get their share.
  maxRequestsPerSocket: 1_000,
  connectionsCheckingInterval: 5_000,
}

/** How often the log has a line about refused connections. */
const NOTICE_MS = 60_000

/** How long a part of a file may take, and its answer: Node has one limit for all requests, and ours are kept by timers. */
const PART_TIMEOUT_MS = 310_000

/** The limits that the configuration sets. */
export function configuredLimits({ attachments, server }: Config): Partial<ServerLimits> {
  const requestTimeout = server.request_timeout_seconds * 1000
  return {
    headersTimeout: server.headers_timeout_seconds * 1000,
    requestTimeout: attachments.enabled ? Math.max(requestTimeout, PART_TIMEOUT_MS) : requestTimeout,
    keepAliveTimeout: server.keep_alive_timeout_seconds * 1000,
    maxHeaderSize: server.max_header_bytes,
    maxConnections: server.max_connections,
  }
}

/** Sets the limits of a server that listens already; the default applies to each limit that is left out. */
export function applyLimits(server: Server, limits: Partial<ServerLimits> = {}): void {
  Object.assign(server, SERVER_LIMITS, limits)
  if (cluster.isWorker) limitConnections(server)
  // The timer that enforces them runs at Node's interval, 30 seconds, until this event arms it again.
  server.emit('listening')
}

/**
 * In a worker of node:cluster, a connection beyond Node's own limit goes back to the primary process, which offers it to
 * the workers again and again while all of them are full. So it is accepted and closed.
 */
function limitConnections(server: Server): void {
  const limit = server.maxConnections
  server.maxConnections = Number.POSITIVE_INFINITY
  let open = 0
  server.on('connection', (socket) => {
    if (open >= limit) {
      socket.destroy()
      server.emit('drop')
      return
    }
    open++
    socket.once('close', () => open--)
  })
}

/** Logs, once a minute at most, that connections are refused, and why. */
export function logRefusedConnections(server: Server, config: Config, log: Log): void {
  let quietUntil = 0
  const warn = (message: string, fields: Record<string, unknown>) => {
    if (performance.now() < quietUntil) return
    quietUntil = performance.now() + NOTICE_MS
    log.warn(message, fields)
  }
  server.on('drop', () =>
    warn('Connections are turned away.', { 'server.max_connections': config.server.max_connections }),
  )
  // Without file descriptors no connection can be accepted. Without a listener, this would end the process.
  server.on('error', (error: NodeJS.ErrnoException) => warn('Connections cannot be taken.', { code: error.code }))
}
