import { type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { VERSION } from '../core/version.ts'
import { type AnswerHead, OutgoingFailure, type OutgoingReason } from './failure.ts'

/** A call to an address of the configuration. */
export interface ConfiguredCall {
  method: string
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>
  body: string
  /** How much of the body of the answer is read. */
  max_body: number
  signal: AbortSignal
}

/** An answer, and what was read of its body. */
export interface ConfiguredAnswer extends AnswerHead {
  body: Uint8Array
  /** Whether the body was no larger than the caller reads. */
  is_whole: boolean
}

/**
 * Calls an address that the operator has configured, and that is therefore not judged. No redirect is followed, nothing is
 * decompressed, and nothing is sent twice: each call has a connection of its own, so that a failure to connect means that
 * nothing was sent.
 *
 * @throws OutgoingFailure `dns`, `tls` and `connect` if there was no connection; `timeout` and `protocol` after there was one
 */
export function callConfigured(address: string, call: ConfiguredCall): Promise<ConfiguredAnswer> {
  const url = new URL(address)
  const isSecure = url.protocol === 'https:'
  const headers = {
    'user-agent': `chat-server/${VERSION}`,
    ...call.headers,
    'accept-encoding': 'identity',
    'content-length': String(Buffer.byteLength(call.body)),
    connection: 'close',
  }
  const { method, signal } = call
  return new Promise((resolve, reject) => {
    let isConnected = false
    const request = (isSecure ? requestHttps : requestHttp)(url, { method, headers, agent: false, signal })
    const fail = (cause?: unknown) => reject(failureOf(cause, { isConnected, isAborted: signal.aborted }))
    request.on('socket', (socket) => {
      socket.once(isSecure ? 'secureConnect' : 'connect', () => {
        isConnected = true
      })
    })
    request.on('response', (response) => void readAnswer(request, response, call.max_body).then(resolve, fail))
    request.on('error', fail)
    // Without an error it is closed when the answer switches protocols.
    request.on('close', () => fail())
    request.end(call.body)
  })
}

async function readAnswer(
  request: ClientRequest,
  response: IncomingMessage,
  max_body: number,
): Promise<ConfiguredAnswer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response as AsyncIterable<Uint8Array>) {
    chunks.push(chunk)
    size += chunk.length
    if (size > max_body) break
  }
  const is_whole = size <= max_body
  if (!is_whole) request.destroy()
  const headers = response.headers as Record<string, string | undefined>
  const body = new Uint8Array(Buffer.concat(chunks, Math.min(size, max_body)))
  return { status: response.statusCode ?? 0, headers, body, is_whole }
}

function failureOf(
  cause: unknown,
  { isConnected, isAborted }: { isConnected: boolean; isAborted: boolean },
): OutgoingFailure {
  if (isConnected) return new OutgoingFailure(isAborted ? 'timeout' : 'protocol', { cause })
  return new OutgoingFailure(reasonOf(cause), { cause })
}

/** Why there was no connection. */
function reasonOf(cause: unknown): OutgoingReason {
  const { code, syscall } = Object(cause) as NodeJS.ErrnoException
  if (syscall === 'getaddrinfo') return 'dns'
  return /CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO/.test(String(code)) ? 'tls' : 'connect'
}
