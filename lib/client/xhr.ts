import { ChatError } from '../core/chat-error.ts'
import type { TextStream } from './transport.ts'

/** The characters after which an `XMLHttpRequest` is replaced: it keeps all that has arrived. */
const MAX_KEPT_LENGTH = 1024 * 1024

const NO_XHR = 'The transport "xhr" needs XMLHttpRequest'

/** A `fetch` by `XMLHttpRequest`, and the stream that it opens. @throws ChatError `bad_request` where the runtime has none */
export function openXhr(): { send: typeof fetch; stream: TextStream } {
  // Any other exception would count as a lost connection, and be tried again and again.
  if (typeof XMLHttpRequest === 'undefined') throw new ChatError('bad_request', { status: 400, message: NO_XHR })
  const xhr = new XMLHttpRequest()
  let isFull = false
  let isDone = false
  let wake = () => {}

  const send: typeof fetch = (url, { headers, credentials, signal } = {}) =>
    new Promise((resolve, reject) => {
      // React Native has no `throwIfAborted`.
      if (signal?.aborted) return reject(new TypeError('The stream was ended'))
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
