import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { resolve } from 'node:path'
import { BACKLOG, listenOnSocket, type SocketPlace } from './socket.ts'

/** Where a server is to listen. */
export interface Address {
  /** A name or an address of this machine. */
  host: string
  /** 0 picks a free port. */
  port: number
}

/** An open socket that the process was started with, as systemd passes it. */
export interface InheritedPlace {
  fd: number
}

/** Where a server can listen. */
export type Place = Address | SocketPlace | InheritedPlace

/** Makes a server for a handler, and resolves once it listens. */
export type Listen = (handler: RequestListener, place: Place) => Promise<Server>

/** Ports that no browser connects to (https://fetch.spec.whatwg.org/#port-blocking). */
const BLOCKED_PORTS = [
  [1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110],
  [111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532],
  [540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 5060, 5061, 6000],
  [6566, 6665, 6666, 6667, 6668, 6669, 6697, 10080],
].flat()

/**
 * Listens in exactly this place.
 *
 * @throws Error that names the reason why it is not available
 */
export const listen: Listen = async (handler, place) => {
  if ('socket' in place) return listenOnSocket(createServer(handler), place)
  if ('fd' in place) return listenInherited(createServer(handler), place)
  const { host, port } = place
  if (BLOCKED_PORTS.includes(port)) throw new Error(`Cannot listen on ${host}:${port}: browsers refuse this port`)
  const server = createServer(handler)
  server.listen({ host, port, backlog: BACKLOG })
  try {
    await once(server, 'listening')
  } catch (cause) {
    throw new Error(listenMessage(cause as NodeJS.ErrnoException, { host, port }), { cause })
  }
  return server
}

async function listenInherited(server: Server, { fd }: InheritedPlace): Promise<Server> {
  server.listen({ fd, backlog: BACKLOG })
  await once(server, 'listening').catch((cause: NodeJS.ErrnoException) => {
    throw new Error(`Cannot listen on the socket that the process was started with: ${cause.code}`, { cause })
  })
  return server
}

/** Where a server listens, for people: `127.0.0.1:8080`, `unix:/run/chat.sock`. */
export function listeningPlace(server: Server): { url: string; port: number; address: string } {
  const real = server.address()
  // Node does not know the path of a socket that another process has opened.
  if (!real) return { url: 'unix:', port: 0, address: 'unix:' }
  if (typeof real === 'string') {
    const address = `unix:${resolve(real)}`
    return { url: address, port: 0, address }
  }
  const { address: host, port } = real
  return { url: toUrl({ host, port }), port, address: addressText({ host, port }) }
}

/** A URL of the server for a browser on the same machine. */
export function toUrl({ host, port }: Address): string {
  return `http://${addressText({ host: isAnyAddress(host) ? 'localhost' : host, port })}`
}

/** The address as URLs have it: `127.0.0.1:8080`, `[::1]:8080`. */
export function addressText({ host, port }: Address): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** Whether a server on this host listens on every address of the machine. */
export function isAnyAddress(host: string): boolean {
  return host === '0.0.0.0' || host === '::'
}

const REASONS: Record<string, string> = {
  EADDRINUSE: 'the port is taken',
  EACCES: 'this user may not use the port; below 1024 it needs root or CAP_NET_BIND_SERVICE',
  EADDRNOTAVAIL: 'no network interface has this address',
}

function listenMessage({ code = '', syscall }: NodeJS.ErrnoException, { host, port }: Address): string {
  if (syscall === 'getaddrinfo') return `Cannot listen on ${host}: no such host`
  return `Cannot listen on ${host}:${port}: ${REASONS[code] ?? `the system refuses it (${code})`}`
}
