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
   * @throws ChatError the failure in the response; `bad_request` where the runtime has no such transport
   */
  open(path: string, headers: Record<string, string>, signal?: AbortSignal, wait_seconds?: number): Promise<TextStream>
  /** How long a response may take beyond the connection: a poll waits for an event. */
  wait_ms: number
  /** Makes the next stream ask for another token; missing where the client has no `token`. */
  renewToken?: (() => Promise<void>) | undefined
}

/** How long a poll waits for an event, in seconds: the longest that the service allows. */
const WAIT_SECONDS = 25

/** @throws TypeError for an unknown transport */
export function createTransport({ request, renewToken }: Requester, transport: Transport = 'auto'): StreamTransport {
  if (!TRANSPORTS.includes(transport)) throw new TypeError(`"transport" must be one of ${TRANSPORTS.join(', ')}`)
  const kind = transport !== 'auto' ? transport : 'body' in Response.prototype ? 'fetch' : 'xhr'
  const isPoll = kind === 'poll'
  return {
    renewToken,
    wait_ms: isPoll ? WAIT_SECONDS * 1000 : 0,
    async open(path, headers, signal, wait_seconds = WAIT_SECONDS) {
      if (kind === 'xhr') {
        // Loaded where nothing else works.
        const { openXhr } = await import('./xhr.ts')
        let opened: ReturnType<typeof openXhr> | undefined
        // A request that is repeated with another token needs another one.
        const send: typeof fetch = (...args) => {
          opened = openXhr()
          return opened.send(...args)
        }
        await request('GET', path, { headers, signal, send })
        return opened!.stream
      }
      const query = isPoll ? `?once=true&wait_seconds=${wait_seconds}` : ''
      const response = await request('GET', path + query, { headers, signal })
      return { texts: isPoll ? [await response.text()] : readText(response.body), isFull: () => false }
    },
  }
}
