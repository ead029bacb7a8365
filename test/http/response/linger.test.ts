import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { beforeAll, describe, expect, it } from 'vitest'
import { MIB } from '../../../lib/core/units.ts'
import { setUpService } from '../../support/describe-service.ts'
import { filesInFolder } from '../../support/files-folder.ts'
import { PASSWORD, startService } from '../../support/service.ts'

const PIECE = 'x'.repeat(MIB / 16)
const CHUNK = `10000\r\n${PIECE}\r\n`
const JSON_TYPE = 'Content-Type: application/json'

const service = setUpService(async () =>
  startService('sqlite::memory:', { config: { attachments: await filesInFolder() } }),
)
beforeAll(async () => {
  await service.signIn('ada')
})

/** Refusals that are known before the body arrives; a length beyond the limit is refused first. */
const REFUSALS: [what: string, path: string, type: string, status: number, code: string, pieces?: number][] = [
  ['one that is too large', '/api/auth/login', JSON_TYPE, 413, 'payload_too_large'],
  ['one that is no JSON', '/api/auth/login', 'Content-Type: text/plain', 415, 'unsupported_media_type', 6],
  ['one that is too large for /v1', '/v1/chat/completions', JSON_TYPE, 413, 'payload_too_large'],
  ['one without a session, to a call without a body', '/api/auth/logout', JSON_TYPE, 401, 'unauthenticated'],
  ['a second setup', '/api/setup', JSON_TYPE, 400, 'already_set_up'],
  ['one to nowhere', '/api/nowhere', JSON_TYPE, 404, 'not_found'],
  ['one with an unsupported method', '/api/stream', JSON_TYPE, 405, 'method_not_allowed'],
]

describe.each(['a length', 'chunks'])('an upload with %s', (framing) => {
  it.each(REFUSALS)('gets the reason of a refusal after sending all of it: %s', async (...refusal) => {
    const [, path, type, status, code, pieces = 48] = refusal
    const framed = framing === 'chunks' ? 'Transfer-Encoding: chunked' : `Content-Length: ${pieces * PIECE.length}`
    const socket = open(path, type, framed)
    // Reads nothing until the last byte is sent, as many clients and proxies do.
    socket.pause()
    for (let sent = 0; sent < pieces; sent++) await send(socket, framing === 'chunks' ? CHUNK : PIECE)
    if (framing === 'chunks') await send(socket, '0\r\n\r\n')
    const answer = await readAll(socket)
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(answer).toMatch(/^connection: close$/im)
    expect(answer.slice(answer.indexOf('\r\n\r\n') + 4)).toContain(`"${code}"`)
  })
})

it('gets the reason of a refusal after sending all of a part of a file that is too long', async () => {
  const ada = await service.signIn('ida')
  const { conversation_id } = await ada.conversations.create({ title: 'Files' })
  const { attachment } = await ada.attachments.create(conversation_id, { name: 'a', size: 10 })
  const { key } = await service.chat.keys.create(await service.chat.users.actor(ada.id), { name: 'files' })
  const headers = [
    `Authorization: Bearer ${key}`,
    'Content-Type: application/octet-stream',
    'Transfer-Encoding: chunked',
  ]
  const socket = open(`/api/attachments/${attachment.id}/parts/1`, ...headers)
  socket.pause()
  for (let sent = 0; sent < 200; sent++) await send(socket, CHUNK)
  await send(socket, '0\r\n\r\n')
  expect(await readAll(socket)).toMatch(/^HTTP\/1.1 422 [\s\S]*"validation_failed"/)
})

it('is read up to a limit after it was refused', async () => {
  const socket = open('/api/nowhere', JSON_TYPE, 'Transfer-Encoding: chunked')
  let isGone = false
  socket.on('error', () => {}).on('close', () => (isGone = true))
  socket.resume()
  let sent = 0
  while (!isGone && sent < 500 * MIB) {
    await send(socket, CHUNK)
    sent += CHUNK.length
  }
  expect(isGone).toBe(true)
  // The system's own buffers do not count.
  expect(sent).toBeGreaterThan(15 * MIB)
  expect(sent).toBeLessThan(100 * MIB)
})

it('is awaited up to a limit after it was refused', async () => {
  const socket = open('/api/nowhere', JSON_TYPE, `Content-Length: ${MIB}`)
  const [first] = await once(socket, 'data')
  expect(String(first)).toContain('"not_found"')
  const asked = performance.now()
  await once(socket, 'close')
  // The server's own limit for a request would be five minutes here.
  expect(performance.now() - asked).toBeLessThan(60_000)
}, 70_000)

it('keeps its connection if it is small and was refused', async () => {
  const socket = open('/api/auth/login', 'Content-Type: text/plain', 'Content-Length: 5')
  const [refusal] = await once(socket, 'data')
  expect(String(refusal)).toMatch(/^HTTP\/1\.1 415 /)
  expect(String(refusal)).toMatch(/^connection: keep-alive/im)
  socket.write('hello')
  const body = JSON.stringify({ email: 'ada@example.org', password: PASSWORD })
  const head = `POST /api/auth/login HTTP/1.1\r\nHost: chat\r\nConnection: close\r\n${JSON_TYPE}`
  socket.write(`${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
  expect(await readAll(socket)).toMatch(/^HTTP\/1\.1 200 [\s\S]*"csrf_token"/)
})

function open(path: string, ...headers: string[]): Socket {
  const socket = connect(Number(new URL(service.base_url).port), '127.0.0.1')
  const method = path.includes('/parts/') ? 'PUT' : 'POST'
  socket.write(`${method} ${path} HTTP/1.1\r\n${['Host: chat', ...headers].join('\r\n')}\r\n\r\n`)
  return socket
}

/** Sends it, unless the peer has closed. */
function send(socket: Socket, text: string): Promise<void> {
  return new Promise((resolve) => void socket.write(text, () => setImmediate(resolve)))
}

/** @throws ECONNRESET when the server closes before it has read everything */
async function readAll(socket: Socket): Promise<string> {
  let received = ''
  for await (const chunk of socket) received += chunk
  return received
}
