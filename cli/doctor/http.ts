import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { Readable } from 'node:stream'
import { readAtMost } from '../../lib/core/body.ts'

/** How long a server may take to respond. */
const TIMEOUT_MS = 10_000

/** Larger than any response of the service. */
const MAX_BODY_BYTES = 4 * 1024 * 1024

/** A complete response, or the reason why none arrived. */
export type Answer =
  | { status: number; headers: Headers; body: string; failure?: undefined }
  | { failure: string; status?: undefined; headers?: undefined; body?: undefined }

/** Sends one GET request, follows no redirect, and reads a limited part of the body. */
export async function ask(url: string, headers: Record<string, string> = {}): Promise<Answer> {
  try {
    if (url.startsWith('unix:')) return await askSocket(url, headers)
    const response = await fetch(url, { headers, redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) })
    const { bytes } = await readAtMost(response.body, MAX_BODY_BYTES)
    return { status: response.status, headers: response.headers, body: Buffer.from(bytes).toString('utf8') }
  } catch (error) {
    return { failure: describeFailure(error) }
  }
}

/** @param url a socket and a path, as nginx writes it: `unix:/run/chat.sock:/healthz` */
async function askSocket(url: string, headers: Record<string, string>): Promise<Answer> {
  const [, socketPath = '', path = '/'] = /^unix:(.*):(\/[^:]*)$/s.exec(url) ?? []
  const clientRequest = request({
    socketPath,
    path,
    headers: { host: 'localhost', ...headers },
    timeout: TIMEOUT_MS,
  }).end()
  clientRequest.once('timeout', () => clientRequest.destroy(Object.assign(new Error(), { name: 'TimeoutError' })))
  const [response] = (await once(clientRequest, 'response').catch((cause) => {
    throw cause.name === 'TimeoutError' ? cause : new Error('no response', { cause })
  })) as [IncomingMessage]
  const { bytes } = await readAtMost(Readable.toWeb(response) as ReadableStream<Uint8Array>, MAX_BODY_BYTES)
  const pairs = Object.entries(response.headers).map(([name, value]) => [name, String(value)] as [string, string])
  return { status: response.statusCode!, headers: new Headers(pairs), body: Buffer.from(bytes).toString('utf8') }
}

const REASONS: Record<string, string> = {
  ENOENT: 'there is no such socket',
  EACCES: 'this user may not use the socket',
  ENOTFOUND: 'the name has no address',
  EAI_AGAIN: 'the name cannot be looked up',
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was cut',
  UND_ERR_SOCKET: 'the connection was cut',
  EHOSTUNREACH: 'the host is unreachable',
  ENETUNREACH: 'the host is unreachable',
  UND_ERR_CONNECT_TIMEOUT: 'it took too long to connect',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is not signed by an authority that this machine trusts',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is not signed by an authority that this machine trusts',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate chain is incomplete',
}

/** The reason why no response arrived, in words. */
export function describeFailure(error: unknown): string {
  const { name, cause } = error as {
    name?: string
    cause?: { code?: string; message?: string; errors?: { code?: string }[] }
  }
  if (name === 'TimeoutError') return `no response within ${TIMEOUT_MS / 1000} seconds`
  const code = cause?.code ?? cause?.errors?.[0]?.code ?? ''
  return REASONS[code] ?? (code || cause?.message || String(error))
}

/** The parsed JSON object; `undefined` if `text` is not JSON. */
export function parseJson(text: string): Record<string, unknown> | undefined {
  try {
    return Object(JSON.parse(text))
  } catch {
    return undefined
  }
}
