import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../../config/parse.ts'
import { contextOf } from '../../core/context-of.ts'
import { type NamesOf, refuseUnknown } from '../../core/known-names.ts'
import type { Chat } from '../../service.ts'
import type { WebPage } from '../web-page.ts'
import { type Listen, listen, listeningPlace, type Place, toUrl } from './listen.ts'
import { createNodeListener } from './listener.ts'
import { trackInFlight } from './requests-in-flight.ts'
import { applyLimits, configuredLimits, logRefusedConnections } from './server-limits.ts'
import { closeGracefully } from './shutdown.ts'

/** Where to listen. */
export interface ServeOptions {
  /** 0 picks a free port. Default: `server.port` of the configuration. */
  port?: number
  /** A name or an address of this machine. Default: `server.host` of the configuration. */
  host?: string
  /** Path of a Unix domain socket instead. Default: `server.socket` of the configuration, unless a port or a host is given. */
  socket?: string
  /** Number of an open socket that the process was started with instead, as systemd passes it. */
  fd?: number | undefined
  /** The web chat, of `createWebChat`: it is served at the root. */
  web?: WebPage | undefined
}

const SERVE_OPTIONS: NamesOf<ServeOptions> = { port: 0, host: 0, socket: 0, fd: 0, web: 0 }

/** How to close a server. */
export interface CloseOptions {
  /**
   * How long `/readyz` returns 503 before anything else changes: the time that a load balancer needs to react.
   * Default: `server.drain_delay_seconds` of the configuration.
   */
  delay_seconds?: number
  /** How long requests in flight may take to end; what is left of them is cut off. Default 8. */
  drain_seconds?: number
}

const CLOSE_OPTIONS: NamesOf<CloseOptions> = { delay_seconds: 0, drain_seconds: 0 }

/** A service that listens. */
export interface ChatServer {
  /** For a browser on the same machine: `http://127.0.0.1:8080`. Of a Unix domain socket: `unix:/run/chat.sock`. */
  readonly url: string
  /** The port it listens on; 0 for a Unix domain socket. */
  readonly port: number
  /** The socket address it listens on: `127.0.0.1:8080`, `[::]:8080`. */
  readonly address: string
  /**
   * Drains the chat, which ends its event streams, lets requests in flight end, and closes the port and all connections.
   * Close the chat afterwards.
   */
  close(options?: CloseOptions): Promise<void>
}

/**
 * Serves a chat on `node:http`, with the limits of `server.*` of the configuration. Installs no signal handler and
 * prints nothing.
 *
 * @param chat started
 * @throws Error that names the reason when it cannot listen there
 */
export function serve(chat: Chat, options: ServeOptions = {}): Promise<ChatServer> {
  return serveThrough(listen, chat, options)
}

/** {@link serve} with another function that listens. */
export async function serveThrough(listen: Listen, chat: Chat, options: ServeOptions): Promise<ChatServer> {
  refuseUnknown('serve', options, SERVE_OPTIONS)
  const { config, log } = contextOf(chat)
  const place = placeFor(config, options)
  let isSocket = false
  const requests = trackInFlight(createNodeListener(chat, { isSocket: () => isSocket, web: options.web }))
  const server = await listen(requests.handle, place)
  const real = listeningPlace(server)
  isSocket = real.port === 0
  if (real.port > 0) await contextOf(chat).cluster.details.listensOn(real.port)
  applyLimits(server, configuredLimits(config))
  logRefusedConnections(server, config, log)

  async function drain(options: CloseOptions): Promise<void> {
    chat.withdraw()
    requests.endKeepAlive()
    await sleep(1000 * (options.delay_seconds ?? config.server.drain_delay_seconds))
    chat.drain()
    await closeGracefully(server, requests, options.drain_seconds)
  }
  let closed: Promise<void> | undefined
  return {
    ...real,
    // By the requested name.
    ...('host' in place && { url: toUrl({ host: place.host, port: real.port }) }),
    async close(options = {}) {
      refuseUnknown('server.close', options, CLOSE_OPTIONS)
      closed ??= drain(options)
      return closed
    },
  }
}

function placeFor({ server }: Config, { host, port, socket, fd }: ServeOptions): Place {
  if (fd !== undefined) return { fd }
  const path = socket ?? (host === undefined && port === undefined ? server.socket : undefined)
  if (path !== undefined) return { socket: path, mode: Number.parseInt(server.socket_mode, 8) }
  return { host: host ?? server.host, port: port ?? server.port }
}
