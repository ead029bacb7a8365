import { httpRequest } from './http.ts'

const FINAL_TEXT = 0x81
const MASKED = 0x80

/**
 * A WebSocket text frame from a client (RFC 6455, 5.2) for a text below 126 bytes. Clients must mask; a mask of
 * zeros leaves the text as it is.
 */
export function maskedText(text: string): Buffer {
  const noMask = [0, 0, 0, 0]
  return Buffer.concat([Buffer.from([FINAL_TEXT, MASKED | text.length, ...noMask]), Buffer.from(text)])
}

/** The request that turns a connection into a WebSocket. */
export function upgradeRequest(path: string, headers: Record<string, string> = {}): string {
  return httpRequest('GET', path, {
    headers: {
      ...headers,
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'YSBiZW5jaCByZWFkZXIhIQ==',
    },
  })
}
