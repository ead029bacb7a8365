import type { IncomingMessage } from 'node:http'

/** How many headers a request may have. */
export const MAX_HEADERS = 100

/**
 * Why a request cannot be trusted to mean the same to us and to a proxy before us; Node lets these pass.
 *
 * Further headers than it is to take Node drops without a word: the `X-Forwarded-For` that a proxy has added at the end
 * would be missing, and one that the client has sent would be believed.
 *
 * @returns the status to refuse it with; nothing when it is in order
 */
export function refusalOf({ rawHeaders, headers, httpVersion }: IncomingMessage): 400 | 431 | undefined {
  if (rawHeaders.length > 2 * MAX_HEADERS) return 431
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  // RFC 9112, 3.2: several are refused whatever they say.
  if (hosts > 1) return 400
  const coding = headers['transfer-encoding']
  // RFC 9112, 6.1: an end of the body that only some find is how a request is hidden in another one.
  if (coding !== undefined && (coding.toLowerCase() !== 'chunked' || httpVersion !== '1.1')) return 400
  return undefined
}
