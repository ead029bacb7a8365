import type { Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { OutgoingFailure } from '../../lib/outgoing/failure.ts'
import { LONG_MS, onRequests, openOutgoing, outcomeOf, startReceiver } from './outgoing.ts'

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

/** A call to a receiver that does `onConnection`. */
async function callOf(onConnection: (socket: Socket, n: number) => void, options: object = {}) {
  const receiver = await startReceiver(onConnection)
  const outgoing = openOutgoing({ allowed_ports: [receiver.port] })
  const call = (more: object = {}) =>
    outgoing.call(`http://127.0.0.1:${receiver.port}/hook?a=b`, { timeout_ms: LONG_MS, ...options, ...more })
  return { call, receiver, outgoing }
}

/** Waits until a connection is closed, by whichever end. */
async function closed(socket: Socket | undefined) {
  socket!.resume()
  if (!socket!.destroyed) await new Promise((resolve) => socket!.once('close', resolve))
}

/** Answers each request with these bytes, and leaves the connection open. */
const answering = (answer: string | Buffer) => (socket: Socket) => onRequests(socket, () => socket.write(answer))

/** Writes a piece as long as the other side reads. */
function writeForEver(socket: Socket, piece: string) {
  const more = () => {
    while (!socket.destroyed && socket.write(piece));
  }
  socket.on('drain', more)
  more()
}

it('sends what it was given, with headers of the connection of its own', async () => {
  let request = ''
  const { call } = await callOf((socket) =>
    onRequests(socket, (text) => {
      request = text
      socket.write(OK)
    }),
  )
  const headers = { 'content-type': 'application/json', host: 'evil', 'transfer-encoding': 'chunked', 'x-own': 'yes' }
  const answer = await call({ method: 'POST', body: '{"a":"ä"}', headers, max_body: 100 })
  expect(answer).toMatchObject({ status: 200, headers: { 'content-length': '2' }, is_whole: true })
  expect(Buffer.from(answer.body).toString()).toBe('ok')
  const [first, ...lines] = request.split('\r\n\r\n')[0]!.split('\r\n')
  expect(first).toBe('POST /hook?a=b HTTP/1.1')
  expect(lines.map((line) => line.toLowerCase()).sort()).toEqual([
    'accept-encoding: identity',
    'connection: keep-alive',
    'content-length: 10',
    'content-type: application/json',
    expect.stringMatching(/^host: 127\.0\.0\.1:\d+$/),
    expect.stringMatching(/^user-agent: chat-server\//),
    'x-own: yes',
  ])
})

it.each([
  ['a redirect to this machine', 'HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1/\r\ncontent-length: 0\r\n\r\n', 302],
  ['a redirect without a place', 'HTTP/1.1 308 Permanent Redirect\r\ncontent-length: 0\r\n\r\n', 308],
  ['a status of 410', 'HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n', 410],
  ['a status of 503', 'HTTP/1.1 503 Busy\r\nretry-after: 7\r\ncontent-length: 0\r\n\r\n', 503],
])('fails at %s, whose head the failure has', async (_title, bytes, status) => {
  const { call, receiver } = await callOf(answering(bytes))
  const failure = await call().catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(OutgoingFailure)
  expect(failure).toMatchObject({ reason: 'status', answer: { status, headers: { 'content-length': '0' } } })
  expect(await call({ accepts: () => true })).toMatchObject({ status })
  expect(receiver.sockets).toHaveLength(1)
})

it.each<[string, string | number, (socket: Socket) => void]>([
  ['HTTP/0.9', 'protocol', answering('<html>hello</html>')],
  ['another protocol', 'protocol', answering('220 mail.example.org ESMTP\r\n')],
  ['two lengths', 'protocol', answering('HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nok')],
  [
    'a length beside chunks',
    'protocol',
    answering('HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\nok'),
  ],
  [
    'a switch of protocols',
    'protocol',
    answering('HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
  ],
  ['a head of 1 MB', 'protocol', answering(`HTTP/1.1 200 OK\r\nx: ${'a'.repeat(1_000_000)}\r\n\r\n`)],
  [
    'an endless header',
    'protocol',
    (socket) =>
      onRequests(socket, () => {
        socket.write('HTTP/1.1 200 OK\r\nx: ')
        writeForEver(socket, 'y'.repeat(1000))
      }),
  ],
  [
    'an endless line of headers',
    'protocol',
    (socket) =>
      onRequests(socket, () => {
        socket.write('HTTP/1.1 200 OK\r\n')
        writeForEver(socket, 'x: y\r\n')
      }),
  ],
  [
    'an endless status line',
    'protocol',
    (socket) =>
      onRequests(socket, () => {
        socket.write('HTTP/1.1 200 ')
        writeForEver(socket, 'O'.repeat(1000))
      }),
  ],
  [
    'endless answers with 1xx',
    'protocol',
    (socket) => onRequests(socket, () => writeForEver(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n')),
  ],
  [
    'a length that is too large',
    'protocol',
    (socket) => onRequests(socket, () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nok')),
  ],
  [
    'chunks without an end',
    'protocol',
    (socket) =>
      onRequests(socket, () => socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n')),
  ],
  ['chunks that are none', 'protocol', answering('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n')],
  ['no byte', 'connect', (socket) => onRequests(socket, () => socket.end())],
  ['a reset', 'connect', (socket) => onRequests(socket, () => socket.resetAndDestroy())],
])('says what is wrong with %s', async (_title, expected, onConnection) => {
  const { call } = await callOf(onConnection, { max_body: 1000 })
  expect(await outcomeOf(call())).toBe(expected)
})

it('survives a reset after each byte of an answer', async () => {
  const answer = 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello'
  const outcomes: (string | number)[] = []
  let cut = 0
  const { call } = await callOf((socket) =>
    onRequests(socket, () => socket.write(answer.slice(0, cut), () => socket.resetAndDestroy())),
  )
  for (cut = 0; cut <= answer.length; cut++) outcomes.push(await outcomeOf(call({ max_body: 100 })))
  // Bytes of a connection that is reset may be lost on their way.
  expect(new Set(outcomes.slice(0, -1))).toEqual(new Set(['connect', 'protocol']))
  expect(outcomes[0]).toBe('connect')
})

it.each<[string, (socket: Socket) => void]>([
  ['never answers', () => {}],
  ['sends half a head', answering('HTTP/1.1 200 OK\r\nx: ')],
  [
    'sends one byte of its head after the other',
    (socket) => {
      const timer = setInterval(() => socket.write('a'), 5)
      socket.write('HTTP/1.1 200 OK\r\nx: ')
      socket.on('close', () => clearInterval(timer))
    },
  ],
  ['sends half a body', answering('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nok')],
  [
    'sends one byte of its body after the other',
    (socket) => {
      const timer = setInterval(() => socket.write('1\r\na\r\n'), 5)
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
      socket.on('close', () => clearInterval(timer))
    },
  ],
])('ends at the deadline when the receiver %s, and closes the connection', async (_title, onConnection) => {
  const { call, receiver } = await callOf(onConnection, { max_body: 10_000, timeout_ms: 60 })
  expect(await outcomeOf(call())).toBe('timeout')
  const [socket] = receiver.sockets
  await closed(socket)
})

it.each<[string, (socket: Socket) => void]>([
  [
    'endless',
    (socket) =>
      onRequests(socket, () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n')
        writeForEver(socket, 'a'.repeat(1000))
      }),
  ],
  ['of half its length', answering('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nok')],
  ['broken off', (socket) => onRequests(socket, () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nok'))],
])('ends with the head of an answer that is to be forgotten, whose body is %s', async (_title, onConnection) => {
  const { call, receiver } = await callOf(onConnection, { timeout_ms: 200 })
  expect(await call()).toMatchObject({ status: 200, is_whole: false })
  const [socket] = receiver.sockets
  await closed(socket)
})

it('reads no more of a body than it was asked for', async () => {
  const { call, receiver } = await callOf((socket) =>
    onRequests(socket, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      writeForEver(socket, 'a'.repeat(1000))
    }),
  )
  const { body, is_whole } = await call({ max_body: 1500 })
  expect([body.length, is_whole]).toEqual([1500, false])
  await closed(receiver.sockets[0])
})

it('decompresses nothing', async () => {
  const bomb = gzipSync(Buffer.alloc(5_000_000))
  const head = `HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`
  const { call } = await callOf(answering(Buffer.concat([Buffer.from(head), bomb])))
  const { body, is_whole } = await call({ max_body: 64 * 1024 })
  expect(is_whole).toBe(true)
  expect(Buffer.from(body).equals(bomb)).toBe(true)
})

it('uses a connection again, and replaces one that ends before a byte of the answer', async () => {
  const requests: string[] = []
  const { call, receiver } = await callOf((socket, connection) =>
    onRequests(socket, (text, n) => {
      requests.push(`${connection}.${n} ${text.split('\r\n\r\n')[1]}`)
      // A receiver that closes idle connections may do so while a request is on its way.
      if (connection === 1 && n === 3) socket.resetAndDestroy()
      else socket.write(OK)
    }),
  )
  for (const body of ['one', 'two', 'three', 'four'])
    expect(await call({ method: 'POST', body, max_body: 10 })).toMatchObject({ status: 200 })
  expect(requests).toEqual(['1.1 one', '1.2 two', '1.3 three', '2.1 three', '2.2 four'])
  expect(receiver.sockets).toHaveLength(2)
})

it('sends once what a new connection loses, and what a kept one began to answer', async () => {
  const requests: string[] = []
  const { call } = await callOf((socket) =>
    onRequests(socket, (text, n) => {
      requests.push(text.split('\r\n\r\n')[1]!)
      if (n === 1) socket.write(OK)
      else socket.end('HTTP/1.1 2')
    }),
  )
  await call({ method: 'POST', body: 'one', max_body: 10 })
  expect(await outcomeOf(call({ method: 'POST', body: 'two', max_body: 10 }))).toBe('protocol')
  expect(requests).toEqual(['one', 'two'])
})

it('keeps a connection whose forgotten body was small', async () => {
  const { call, receiver } = await callOf(answering(OK))
  for (let n = 0; n < 3; n++) {
    await call()
    // The body is read after the call has ended.
    await new Promise(setImmediate)
  }
  expect(receiver.sockets.length).toBeLessThanOrEqual(2)
})

it('breaks off what runs when it is closed', async () => {
  const { call, receiver, outgoing } = await callOf((socket) => onRequests(socket, () => outgoing.close()))
  expect(await outcomeOf(call())).toBe('timeout')
  await closed(receiver.sockets[0])
})
