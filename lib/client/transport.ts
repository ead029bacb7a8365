import { readText } from '../core/body.ts'
import type { Requester } from './request.ts'
import { TRANSPORTS, type Transport } from './types.ts'

/** The text of a stream as it arrives, or that of a whole response. */
export interface TextStream {
  texts: AsyncIterable<string> | string[]
  /** Whether it was ended here, to be opened again at once. */
  isFull(): boolean
}

/** How streams are opened. */
export interface StreamTransport {
  /**
   * @param wait_seconds of a poll
   * @throws ChatError the failure in the response
   */
  open(path: string, headers: Record<string, string>, signal?: AbortSignal, wait_seconds?: number): Promise<TextStream>
  /** How long a response may take beyond the connection: a poll waits for an event. */
  wait_ms: number
}

/** How long a poll waits for an event, in seconds: the longest that the service allows. */
const WAIT_SECONDS = 25

/** The characters after which an `XMLHttpRequest` is replaced: it keeps all that has arrived. */
const MAX_KEPT_LENGTH = 1024 * 1024

/** @throws TypeError for an unknown transport */
export function createTransport({ request }: Requester, transport: Transport = 'auto'): StreamTransport {
  if (!TRANSPORTS.includes(transport)) throw new TypeError(`"transport" must be one of ${TRANSPORTS.join(', ')}`)
  const kind = transport !== 'auto' ? transport : 'body' in Response.prototype ? 'fetch' : 'xhr'
  const isPoll = kind === 'poll'
  return {
    wait_ms: isPoll ? WAIT_SECONDS * 1000 : 0,
    async open(path, headers, signal, wait_seconds = WAIT_SECONDS) {
      if (kind === 'xhr') {
        const { send, stream } = openXhr()
        await request('GET', path, { headers, signal, send })
        return stream
      }
      const query = isPoll ? `?once=true&wait_seconds=${wait_seconds}` : ''
      const response = await request('GET', path + query, { headers, signal })
      return { texts: isPoll ? [await response.text()] : readText(response.body), isFull: () => false }
    },
  }
}

/** A `fetch` by `XMLHttpRequest`, and the stream that it opens. */
function openXhr(): { send: typeof fetch; stream: TextStream } {
  const xhr = new XMLHttpRequest()
  let isFull = false
  let isDone = false
  let wake = () => {}

  const send: typeof fetch = (url, { headers, credentials, signal } = {}) =>
    new Promise((resolve, reject) => {
      const abort = () => xhr.abort()
      xhr.open('GET', String(url))
      xhr.withCredentials = credentials === 'include'
      for (const [name, value] of Object.entries(headers as Record<string, string>)) xhr.setRequestHeader(name, value)
      signal?.addEventListener('abort', abort)
      const isOk = () => xhr.status >= 200 && xhr.status < 300
      const respond = (text: string | null) =>
        resolve(new Response(text, { status: xhr.status, headers: headersOf(xhr) }))
      xhr.onreadystatechange = () => {
        if (xhr.readyState === xhr.HEADERS_RECEIVED && isOk()) respond(null)
      }
      xhr.onprogress = () => wake()
      xhr.onload = () => respond(isOk() ? null : xhr.responseText)
      xhr.onerror = xhr.onabort = () => reject(new TypeError('The connection was lost'))
      xhr.onloadend = () => {
        signal?.removeEventListener('abort', abort)
        isDone = true
        wake()
      }
      xhr.send()
    })

  async function* read(): AsyncGenerator<string> {
    let length = 0
    try {
      while (!isFull) {
        const isLast = isDone
        // Whole lines only: the last character may have arrived in part.
        const text = xhr.responseText.slice(length, xhr.responseText.lastIndexOf('\n') + 1)
        length += text.length
        if (text) {
          yield text
          isFull = length > MAX_KEPT_LENGTH && text.endsWith('\n\n')
        } else if (isLast) return
        else
          await new Promise<void>((resolve) => {
            wake = resolve
          })
      }
    } finally {
      xhr.abort()
    }
  }

  return { send, stream: { texts: read(), isFull: () => isFull } }
}

function headersOf(xhr: XMLHttpRequest): Headers {
  const lines = xhr.getAllResponseHeaders().split('\r\n').filter(Boolean)
  return new Headers(lines.map((line) => line.split(/: (.*)/, 2) as [string, string]))
}
