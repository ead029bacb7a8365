import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { readJson } from '../../../lib/http/request/body.ts'
import { readBytes } from '../../../lib/http/request/bytes.ts'

/** A server that reads each body, and a socket that has sent this of a request. */
async function received<T>(sent: string, read: (request: IncomingMessage) => Promise<T>) {
  const results: Promise<T>[] = []
  const server = createServer((request, response) => {
    results.push(read(request))
    results[0]!.catch(() => {}).finally(() => response.end())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.on('error', () => {})
  onTestFinished(() => {
    socket.destroy()
    server.close()
  })
  const asked = once(server, 'request')
  socket.write(`PUT / HTTP/1.1\r\nhost: x\r\n${sent}`)
  await asked
  return { socket, result: results[0]! }
}

const { signal } = new AbortController()

const reading =
  (seconds: number, stop = signal) =>
  (request: IncomingMessage) =>
    readBytes({ body: request, headers: new Headers() }, { buffer: Buffer.alloc(5), seconds, signal: stop })

const code = (expected: string) => expect.objectContaining({ code: expected })

it('reads the bytes of a part, with or without a length', async () => {
  const { result } = await received('content-length: 5\r\n\r\nhello', reading(300))
  expect(Buffer.from(await result).toString()).toBe('hello')
  const chunked = await received('transfer-encoding: chunked\r\n\r\n2\r\nhe\r\n', reading(300))
  chunked.socket.write('3\r\nllo\r\n0\r\n\r\n')
  expect(Buffer.from(await chunked.result).toString()).toBe('hello')
})

it('refuses a part that is cut off, too long, or takes too long', async () => {
  const cut = await received('content-length: 5\r\n\r\nhel', reading(300))
  cut.socket.destroy()
  await expect(cut.result).rejects.toEqual(code('validation_failed'))
  const long = await received('transfer-encoding: chunked\r\n\r\n6\r\nhello!\r\n', reading(300))
  await expect(long.result).rejects.toEqual(code('validation_failed'))
  const slow = await received('content-length: 5\r\n\r\nhel', reading(0.02))
  await expect(slow.result).rejects.toEqual(code('request_timeout'))
})

it('refuses a part that is still arriving, or has not begun to, when it is to stop', async () => {
  const stopping = new AbortController()
  const slow = await received('content-length: 5\r\n\r\nhel', reading(300, stopping.signal))
  const body = new ReadableStream<Uint8Array>()
  const web = readBytes(
    { body, headers: new Headers() },
    { buffer: Buffer.alloc(5), seconds: 300, signal: stopping.signal },
  )
  stopping.abort(new Error('stopping'))
  for (const result of [slow.result, web]) await expect(result).rejects.toThrow('stopping')
  const { result } = await received('content-length: 5\r\n\r\nhello', reading(300, stopping.signal))
  await expect(result).rejects.toThrow('stopping')
})

it('notices a client that left before the part was read', async () => {
  const { socket, result } = await received('content-length: 5\r\n\r\nhe', async (request) => {
    await new Promise((resolve) => request.socket.once('close', resolve))
    return reading(0.5)(request)
  })
  socket.destroy()
  await expect(result).rejects.toEqual(code('validation_failed'))
})

it('refuses a part of a web request that is cut off, or takes too long', async () => {
  const read = (body: ReadableStream<Uint8Array>, seconds: number) =>
    readBytes({ body, headers: new Headers() }, { buffer: Buffer.alloc(5), seconds, signal })
  const cut = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new TypeError('terminated')) })
  await expect(read(cut, 300)).rejects.toEqual(code('validation_failed'))
  await expect(read(new ReadableStream(), 0.02)).rejects.toEqual(code('request_timeout'))
  await expect(read(new Response('hello!').body!, 300)).rejects.toEqual(code('validation_failed'))
})

it('refuses a part with another length than announced before it reads it', async () => {
  const headers = new Headers({ 'content-length': '6' })
  const body = new ReadableStream<Uint8Array>({ pull: () => Promise.reject(new Error('read')) })
  await expect(readBytes({ body, headers }, { buffer: Buffer.alloc(5), seconds: 300, signal })).rejects.toEqual(
    code('validation_failed'),
  )
})

it('reads a part of a web request', async () => {
  const { body } = new Response('hello')
  const bytes = await readBytes({ body, headers: new Headers() }, { buffer: Buffer.alloc(5), seconds: 300, signal })
  expect(Buffer.from(bytes).toString()).toBe('hello')
})

it('ends a request whose JSON takes too long, as Node does without files', async () => {
  const limits = { bytes: 100, entries: 10, seconds: 0.02 }
  const { socket, result } = await received('content-length: 50\r\n\r\n{"a":', (request) => readJson(request, limits))
  result.catch(() => {})
  const [answer] = await once(socket, 'data')
  expect(String(answer)).toMatch(/^HTTP\/1.1 408 Request Timeout\r\n/)
  await once(socket, 'close')
  await expect(result).rejects.toEqual(code('malformed_json'))
})

it('notices a client that left before its JSON was read', async () => {
  const { socket, result } = await received('content-length: 50\r\n\r\n{"a":', async (request) => {
    await new Promise((resolve) => request.socket.once('close', resolve))
    return readJson(request, { bytes: 100, entries: 10 })
  })
  socket.destroy()
  await expect(result).rejects.toEqual(code('malformed_json'))
})
