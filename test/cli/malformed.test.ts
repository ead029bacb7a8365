import { connect } from 'node:net'
import { expect, it } from 'vitest'
import { folder } from './process.ts'
import { type Serving, serve } from './serving.ts'

const GET = 'GET /healthz HTTP/1.1\r\n'
const POST = 'POST /api/auth/login HTTP/1.1\r\nContent-Type: application/json\r\n'
const HOST = 'Host: chat\r\n'
const CHUNKED = 'Transfer-Encoding: chunked\r\n'
const headers = (count: number) => Array.from({ length: count }, (_, i) => `X-${i}: y\r\n`).join('')

/** The bytes sent, and the status of every response; none if the connection is closed without one. */
const SHAPES: Record<string, [sent: string | Buffer, statuses: number[]]> = {
  'no request line': ['HELLO\r\n\r\n', [400]],
  'an empty line first': [`\r\n${GET}${HOST}Connection: close\r\n\r\n`, [200]],
  'another protocol': [Buffer.from('16030100c8010000c40303', 'hex'), [400]],
  'HTTP/2 without TLS': ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', [400]],
  'an unknown version': [`GET / HTTP/9.9\r\n${HOST}\r\n`, [400]],
  'a tunnel': ['CONNECT example.org:443 HTTP/1.1\r\nHost: example.org\r\n\r\n', []],
  'no host': [`${GET}\r\n`, [400]],
  'two hosts': [`${GET}${HOST}hOST: other\r\n\r\n`, [400]],
  'the same host twice': [`${GET}${HOST}${HOST}\r\n`, [400]],
  'a space before the colon': [`${GET}${HOST}X-A : b\r\n\r\n`, [400]],
  'a header over two lines': [`${GET}${HOST}X-A: b\r\n c\r\n\r\n`, [400]],
  'a header without a name': [`${GET}${HOST}: b\r\n\r\n`, [400]],
  'NUL in a header': [`${GET}${HOST}X-A: b\0c\r\n\r\n`, [400]],
  'a lone carriage return in a header': [`${GET}${HOST}X-A: b\rX-C: d\r\n\r\n`, [400]],
  'lines without carriage returns': ['GET /healthz HTTP/1.1\nHost: chat\n\n', [400]],
  'length and chunks': [`${POST}${HOST}Content-Length: 5\r\n${CHUNKED}\r\n0\r\n\r\n${GET}${HOST}\r\n`, [400]],
  'chunks and length': [`${POST}${HOST}${CHUNKED}Content-Length: 5\r\n\r\n0\r\n\r\n${GET}${HOST}\r\n`, [400]],
  'two lengths': [`${POST}${HOST}Content-Length: 5\r\nContent-Length: 6\r\n\r\n{}    `, [400]],
  'a length with a sign': [`${POST}${HOST}Content-Length: +5\r\n\r\n{}   `, [400]],
  'a length in hexadecimal': [`${POST}${HOST}Content-Length: 0x5\r\n\r\n{}   `, [400]],
  'a length no number holds': [`${POST}${HOST}Content-Length: 99999999999999999999\r\n\r\n{}`, [400]],
  'an unknown coding': [`${POST}${HOST}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${GET}${HOST}\r\n`, [400]],
  'chunks within another coding': [`${POST}${HOST}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`, [400]],
  'chunks twice': [`${POST}${HOST}${CHUNKED}${CHUNKED}\r\n0\r\n\r\n${GET}${HOST}\r\n`, [400]],
  'chunks in HTTP/1.0': [`POST /api/auth/login HTTP/1.0\r\n${HOST}${CHUNKED}\r\n0\r\n\r\n${GET}${HOST}\r\n`, [400]],
  'a chunk without a length': [`${POST}${HOST}${CHUNKED}\r\nzz\r\n{}\r\n0\r\n\r\n`, [400]],
  'a long address': [`GET /${'a'.repeat(16 * 1024)} HTTP/1.1\r\n${HOST}\r\n`, [431]],
  'long headers': [`${GET}${HOST}X-A: ${'b'.repeat(16 * 1024)}\r\n\r\n`, [431]],
  'headers of a megabyte': [`${GET}${HOST}X-A: ${'b'.repeat(1024 * 1024)}\r\n\r\n`, [431]],
  'as many headers as may be': [`${GET}${HOST}${headers(98)}Connection: close\r\n\r\n`, [200]],
  'one header too many': [`${GET}${HOST}${headers(100)}\r\n`, [431]],
  'many headers': [`${GET}${HOST}${headers(1000)}\r\n`, [431]],
  'an address with a host': [`GET http://other/healthz HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`, [200]],
  'no path': [`OPTIONS * HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`, [404]],
  'an upgrade': [`${GET}${HOST}Connection: upgrade, close\r\nUpgrade: websocket\r\n\r\n`, [200]],
  'slow headers': [`${GET}${HOST}`, [408]],
  'a slow body': [`${POST}${HOST}Content-Length: 9\r\n\r\n{`, [408]],
}

it('refuses malformed or ambiguous HTTP, and closes the connection', async () => {
  const env = {
    CHAT_SECURITY__PASSWORD__BCRYPT_COST: '10',
    CHAT_SERVER__HEADERS_TIMEOUT_SECONDS: '1',
    CHAT_SERVER__REQUEST_TIMEOUT_SECONDS: '1',
    CHAT_LOG__REQUESTS: 'none',
    // The limit is the service's own, not that of NODE_OPTIONS.
    NODE_OPTIONS: '--max-http-header-size=2000000',
  }
  const server = await serve({ cwd: folder(), env })
  const answers = Object.entries(SHAPES).map(async ([name, [sent]]) => [name, await statusesOf(server, sent)])
  const expected = Object.entries(SHAPES).map(([name, [, statuses]]) => [name, statuses])
  expect(Object.fromEntries(await Promise.all(answers))).toEqual(Object.fromEntries(expected))

  expect((await fetch(`${server.url}/healthz`)).status).toBe(200)
  server.child.kill('SIGTERM')
  const { code, stderr } = await server.end
  expect(code).toBe(0)
  // It is the client's mistake: clients must not be able to fill the log.
  expect(stderr.split('\n').filter((line) => /"level":"(warn|error)"/.test(line))).toEqual([])
})

it('accepts a limited number of connections, and logs that', async () => {
  const server = await serve({ cwd: folder(), env: { CHAT_SERVER__MAX_CONNECTIONS: '2' } })
  const { port } = new URL(server.url)
  const held = [connect(Number(port), '127.0.0.1'), connect(Number(port), '127.0.0.1')]
  const request = `${GET}${HOST}\r\n`
  for (const socket of held) await new Promise((resolve) => socket.once('data', resolve).write(request))
  expect(await statusesOf(server, request)).toEqual([])
  held[0]!.destroy()
  while ((await statusesOf(server, `${GET}${HOST}Connection: close\r\n\r\n`)).length === 0);
  held[1]!.destroy()
  server.child.kill('SIGTERM')
  expect((await server.end).stderr).toMatch(/Connections are turned away.*"server.max_connections":2/)
})

it('answers a thousand pipelined requests of one connection in order', async () => {
  const server = await serve({ cwd: folder() })
  const { port } = new URL(server.url)
  const ask = (i: number) => `GET /nowhere HTTP/1.1\r\n${HOST}X-Request-Id: request-${i}\r\n\r\n`
  const socket = connect(Number(port), '127.0.0.1')
  socket.write(Array.from({ length: 1000 }, (_, i) => ask(i)).join(''))
  let received = ''
  for await (const chunk of socket) {
    received += chunk
    // A connection may send a thousand requests.
    if (/^connection: close/im.test(received)) break
  }
  const ids = [...received.matchAll(/^x-request-id: request-(\d+)/gim)].map(([, id]) => Number(id))
  expect(ids).toEqual(Array.from({ length: 1000 }, (_, i) => i))
  server.child.kill('SIGTERM')
  expect((await server.end).code).toBe(0)
})

/** Sends it and reads until the server closes. */
function statusesOf({ url }: Serving, sent: string | Buffer): Promise<number[]> {
  const { port } = new URL(url)
  return new Promise((resolve) => {
    let received = ''
    const socket = connect(Number(port), '127.0.0.1')
    // Only closing counts: a client that has sent more than was read is reset.
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      received += chunk
    })
    socket.on('close', () => resolve([...received.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => Number(status))))
    socket.write(sent)
  })
}
