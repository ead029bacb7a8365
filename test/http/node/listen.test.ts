import { once } from 'node:events'
import { type RequestListener, request } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createQrListener } from '../../../cli/server/qr.ts'
import { type Listen, listen, toUrl } from '../../../lib/http/node/listen.ts'
import { trackInFlight } from '../../../lib/http/node/requests-in-flight.ts'
import { applyLimits } from '../../../lib/http/node/server-limits.ts'
import { closeGracefully } from '../../../lib/http/node/shutdown.ts'
import { withResolvers } from '../../support/with-resolvers.ts'

const answer: RequestListener = (_request, response) => void response.end('ok')

describe.each<[string, () => Promise<Listen>]>([
  ['node:http', async () => listen],
  ['listhen', async () => (await createQrListener()).listen],
])('listening by %s', (_, create) => {
  it.each(['127.0.0.1', 'localhost', '::1', '0.0.0.0', '::'])('takes %s and a free port', async (host) => {
    const { server, port, url } = await listenOn(host, 0, answer, await create())
    const address = server.address() as AddressInfo
    expect(address.port).toBe(port)
    expect(address.address).toBe(host === 'localhost' ? address.address : host)
    expect(await (await fetch(url)).text()).toBe('ok')
  })

  it('takes a free port in production too, and the port it is given', async () => {
    const before = process.env.NODE_ENV
    onTestFinished(() => {
      process.env.NODE_ENV = before
    })
    process.env.NODE_ENV = 'production'
    const first = await listenOn('127.0.0.1', 0, answer, await create())
    expect(first.port).toBeGreaterThan(1024)
    expect(first.port).not.toBe(3000)
    await once(first.server.close(), 'close')
    expect((await listenOn('127.0.0.1', first.port, answer, await create())).port).toBe(first.port)
  })

  it('refuses a port in use instead of taking another one', async () => {
    const { port } = await listenOn('127.0.0.1', 0)
    const second = listenOn('127.0.0.1', port, answer, await create())
    await expect(second).rejects.toThrow(`Cannot listen on 127.0.0.1:${port}: the port is taken`)
  })

  it.each([
    ['127.0.0.1', 6000, 'Cannot listen on 127.0.0.1:6000: browsers refuse this port'],
    ['192.0.2.1', 0, 'Cannot listen on 192.0.2.1:0: no network interface has this address'],
    ['not a host', 0, 'Cannot listen on not a host: no such host'],
    ['no-such-host.invalid', 80, 'Cannot listen on no-such-host.invalid: no such host'],
  ])('names the reason why it cannot listen on %s:%i', async (host, port, message) => {
    await expect(listenOn(host, port, answer, await create())).rejects.toThrow(message)
  })
})

describe('the limits of a server', () => {
  it('end connections whose request takes too long to arrive, and keep those that wait for a response', async () => {
    const { server, port } = await listenOn('127.0.0.1', 0, () => {})
    expect(server).toMatchObject({ headersTimeout: 10_000, requestTimeout: 30_000, maxHeadersCount: 100 })
    expect(server).toMatchObject({ keepAliveTimeout: 5_000, maxRequestsPerSocket: 1_000, maxConnections: 10_000 })
    expect(server).toMatchObject({ maxHeaderSize: 16_384, connectionsCheckingInterval: 5_000 })
    applyLimits(server, { headersTimeout: 50, requestTimeout: 100, connectionsCheckingInterval: 10 })

    const waiting = send(port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    const headers = text(send(port, 'GET / HTTP/1.1\r\nHost: a\r\n'))
    const body = text(send(port, 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nab'))
    expect(await headers).toMatch(/^HTTP\/1\.1 408 /)
    expect(await body).toMatch(/^HTTP\/1\.1 408 /)
    expect(waiting.readableEnded).toBe(false)
  })

  it('end a connection whose client reads nothing of its response', async () => {
    const cut = withResolvers<void>()
    const { server, port } = await listenOn('127.0.0.1', 0, (_request, response) => {
      response.on('close', cut.resolve)
      response.write(Buffer.alloc(64 * 1024 * 1024))
    })
    expect(server.timeout).toBe(120_000)
    applyLimits(server, { timeout: 100 })
    send(port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n').pause()
    await cut.promise
  })

  it('refuse headers above 16 KiB', async () => {
    const { port } = await listenOn('127.0.0.1', 0)
    const answered = await text(send(port, `GET / HTTP/1.1\r\nHost: a\r\nX-Large: ${'x'.repeat(16 * 1024)}\r\n\r\n`))
    expect(answered).toMatch(/^HTTP\/1\.1 431 /)
  })
})

describe('a graceful shutdown', () => {
  it('lets a request in progress end, and does not wait for an idle connection', async () => {
    const asked = withResolvers<() => void>()
    const requests = trackInFlight((_request, response) => asked.resolve(() => response.end('late')))
    const { server, port } = await listenOn('127.0.0.1', 0, requests.handle)
    const opened = once(server, 'connection')
    const preconnected = send(port, '')
    await opened
    const answered = once(request({ port, headers: { connection: 'keep-alive' } }).end(), 'response')
    const end = await asked.promise

    const closed = closeGracefully(server, requests)
    end()
    const [response] = await answered
    expect(response.headers.connection).toBe('close')
    expect(await text(response)).toBe('late')
    await closed
    await expect(fetch(`http://127.0.0.1:${port}`)).rejects.toThrow()
    expect(await text(preconnected)).toBe('')
  })

  it('leaves a connection that was just opened the time to send its request', async () => {
    const requests = trackInFlight(answer)
    const { server, port } = await listenOn('127.0.0.1', 0, requests.handle)
    const ages: Promise<number>[] = []
    server.on('connection', (socket: Socket) => {
      const opened = performance.now()
      ages.push(once(socket, 'close').then(() => performance.now() - opened))
    })
    const closed = closeGracefully(server, requests)
    for (let previous = 0; server.listening; await new Promise(setImmediate)) {
      if (performance.now() - previous < 30) continue
      previous = performance.now()
      send(port, '')
    }
    await closed
    expect(await ages.at(-1)).toBeGreaterThan(250)
  })

  it('cuts off a response that does not end in time', async () => {
    const requests = trackInFlight((_request, response) => void response.write('endless'))
    const { server, port } = await listenOn('127.0.0.1', 0, requests.handle)
    const socket = send(port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    await once(socket, 'data')
    const ended = once(socket, 'close')
    await closeGracefully(server, requests, 0.01)
    await ended
  })
})

async function listenOn(host: string, asked: number, handler = answer, how = listen) {
  const server = await how(handler, { host, port: asked })
  applyLimits(server)
  onTestFinished(() => server.closeAllConnections())
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  return { server, port, url: toUrl({ host, port }) }
}

function send(port: number, text: string): Socket {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  socket.write(text)
  return socket
}

async function text(stream: Readable): Promise<string> {
  let whole = ''
  for await (const chunk of stream.setEncoding('utf8')) whole += chunk
  return whole
}
