import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { connect as connectTcp, isIP, isIPv6, type Socket } from 'node:net'
import { connect as connectTls, type SecureContextOptions } from 'node:tls'
import { OutgoingFailure } from './failure.ts'

/** Where a connection leads: to an address that was judged, for a host by which the certificate is checked. */
export interface Route {
  readonly address: string
  readonly port: number
  readonly host: string
  readonly is_secure: boolean
  readonly proxy: string | undefined
}

/** Far above what a proxy answers to CONNECT. */
const MAX_PROXY_HEADER_BYTES = 8 * 1024

interface Opening {
  signal: AbortSignal
  /** How long the address, or the proxy, may take. */
  connect_ms?: number | undefined
}

/**
 * Opens a connection, ready for a request.
 *
 * @param signal closes it while it is being opened
 * @throws OutgoingFailure `connect`, `tls`
 */
export async function openConnection(
  route: Route,
  { authorities, ...opening }: Opening & { authorities: SecureContextOptions['ca'] },
): Promise<Socket> {
  const socket = await (route.proxy === undefined ? dial(route, opening) : tunnel(route, route.proxy, opening))
  if (!route.is_secure) return socket
  const { host } = route
  const secured = connectTls({
    socket,
    host,
    ...(!isIP(host) && { servername: host }),
    ALPNProtocols: ['http/1.1'],
    ...(authorities && { ca: authorities }),
  })
  return await opened(secured, { event: 'secureConnect', reason: 'tls', signal: opening.signal })
}

function dial({ address, port }: Route, opening: Opening): Promise<Socket> {
  const socket = connectTcp({ host: address, port, noDelay: true })
  return opened(socket, { event: 'connect', reason: 'connect', ...opening })
}

function opened(
  socket: Socket,
  { event, reason, signal, connect_ms }: Opening & { event: string; reason: 'connect' | 'tls' },
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const timer = connect_ms && setTimeout(() => socket.destroy(new OutgoingFailure(reason)), connect_ms)
    const abort = () => socket.destroy(new OutgoingFailure('timeout'))
    const finish = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
      socket.off('error', fail).off('close', fail)
    }
    const fail = (error?: unknown) => {
      finish()
      // It may fail again while it closes.
      socket.on('error', () => {})
      socket.destroy()
      reject(error instanceof OutgoingFailure ? error : new OutgoingFailure(reason, { cause: error }))
    }
    signal.addEventListener('abort', abort)
    socket.once(event, () => {
      finish()
      resolve(socket)
    })
    socket.on('error', fail).on('close', fail)
    if (signal.aborted) abort()
  })
}

/** A connection through a proxy, which gets the address: it must not resolve the name anew. */
function tunnel({ address, port }: Route, proxy: string, { signal, connect_ms }: Opening): Promise<Socket> {
  const url = new URL(proxy)
  const place = `${isIPv6(address) ? `[${address}]` : address}:${port}`
  const credentials = [url.username, url.password].map(decodeURIComponent).join(':')
  return new Promise((resolve, reject) => {
    const fail = (cause: unknown) => reject(new OutgoingFailure(signal.aborted ? 'timeout' : 'connect', { cause }))
    const request = (url.protocol === 'https:' ? requestHttps : requestHttp)({
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port || (url.protocol === 'https:' ? 443 : 80),
      method: 'CONNECT',
      path: place,
      headers: {
        host: place,
        ...(url.username && { 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` }),
      },
      agent: false,
      maxHeaderSize: MAX_PROXY_HEADER_BYTES,
      signal,
    })
    if (connect_ms) request.setTimeout(connect_ms, () => request.destroy(new OutgoingFailure('connect')))
    request.on('connect', ({ statusCode }, socket, head) => {
      // Nothing may come before the request.
      socket.setTimeout(0)
      if (statusCode === 200 && head.length === 0) return resolve(socket as Socket)
      socket.destroy()
      fail(`the proxy answered with status ${statusCode}`)
    })
    request.on('response', (response) => {
      response.destroy()
      fail(`the proxy answered with status ${response.statusCode}`)
    })
    request.on('error', fail)
    request.end()
  })
}
