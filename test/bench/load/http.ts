/** A whole HTTP/1.1 request as text; without a body, a GET's. Bodies are ASCII here. */
export function httpRequest(
  method: string,
  path: string,
  { headers = {}, body }: { headers?: Record<string, string>; body?: unknown } = {},
): string {
  const text = body === undefined ? '' : JSON.stringify(body)
  const sent: Record<string, string> = { host: '127.0.0.1', ...headers }
  if (text) Object.assign(sent, { 'content-type': 'application/json', 'content-length': String(text.length) })
  const lines = Object.entries(sent).map(([name, value]) => `${name}: ${value}\r\n`)
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${text}`
}

export interface Answer {
  status: number
  /** The server takes no other request on this connection. */
  closes: boolean
}

/** The answer in `text`, or undefined while it is not there whole. One character is one byte. */
export function completeAnswer(text: string): Answer | undefined {
  const headEnd = text.indexOf('\r\n\r\n')
  if (headEnd === -1) return undefined
  const head = text.slice(0, headEnd)
  if (!isWhole(head, text.slice(headEnd + 4))) return undefined
  return { status: Number(head.slice(9, 12)), closes: /\r\nconnection: *close/i.test(head) }
}

function isWhole(head: string, body: string): boolean {
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)
  if (length) return body.length >= Number(length[1])
  return !/\r\ntransfer-encoding: *chunked/i.test(head) || body.endsWith('0\r\n\r\n')
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300
}
