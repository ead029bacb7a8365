import { once } from 'node:events'
import { type RequestListener, request } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { describe, expect, it, onTestFinished } from 'vitest'
import { isLoopback, warningsOf } from '../../cli/config/warnings.ts'
import { applyLimits } from '../../cli/server/limits.ts'
import { listen } from '../../cli/server/listen.ts'
import { createDeparture } from '../../cli/server/shutdown.ts'
import { parseConfig } from '../../lib/config/parse.ts'

const answer: RequestListener = (_request, response) => void response.end('ok')

describe('listen', () => {
  it.each(['127.0.0.1', 'localhost', '::1', '0.0.0.0', '::'])('listens on %s and a port it picks', async (host) => {
    const { server, port, url } = await listenOn(host, 0)
    const address = server.address() as AddressInfo
    expect(address.port).toBe(port)
    expect(address.address).toBe(host === 'localhost' ? address.address : host)
    expect(await (await fetch(url)).text()).toBe('ok')
  })

  it('picks a port in production too, and takes the one it is told', async () => {
    const before = process.env.NODE_ENV
    onTestFinished(() => {
      process.env.NODE_ENV = before
    })
    process.env.NODE_ENV = 'production'
    const first = await listenOn('127.0.0.1', 0)
    expect(first.port).toBeGreaterThan(1024)
    expect(first.port).not.toBe(3000)
    await createDeparture(answer).close(first.server)
    expect((await listenOn('127.0.0.1', first.port)).port).toBe(first.port)
  })

  it('refuses a port that is taken instead of taking another', async () => {
    const { port } = await listenOn('127.0.0.1', 0)
    await expect(listenOn('127.0.0.1', port)).rejects.toThrow(`Cannot listen on 127.0.0.1:${port}: the port is taken`)
  })

  it.each([
    ['127.0.0.1', 6000, 'Cannot listen on 127.0.0.1:6000: browsers refuse this port'],
    ['192.0.2.1', 0, 'Cannot listen on 192.0.2.1:0: no network interface has this address'],
    ['not a host', 0, 'Cannot listen on not a host: no such host'],
    ['no-such-host.invalid', 80, 'Cannot listen on no-such-host.invalid: no such host'],
  ])('says why it cannot listen on %s:%i', async (host, port, message) => {
    await expect(listenOn(host, port)).rejects.toThrow(message)
  })

  it('cuts off who takes too long to say what it wants, and keeps who waits for an answer', async () => {
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

  it('cuts off who takes nothing of its answer', async () => {
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

  it('refuses headers above 16 KiB', async () => {
    const { port } = await listenOn('127.0.0.1', 0)
    const answered = await text(send(port, `GET / HTTP/1.1\r\nHost: a\r\nX-Large: ${'x'.repeat(16 * 1024)}\r\n\r\n`))
    expect(answered).toMatch(/^HTTP\/1\.1 431 /)
  })
})

describe('a departure', () => {
  it('lets a request in flight end, and waits for no connection without one', async () => {
    const asked = withResolvers<() => void>()
    const { handle, close } = createDeparture((_request, response) => asked.resolve(() => response.end('late')))
    const { server, port } = await listenOn('127.0.0.1', 0, handle)
    const opened = once(server, 'connection')
    const preconnected = send(port, '')
    await opened
    const answered = once(request({ port, headers: { connection: 'keep-alive' } }).end(), 'response')
    const end = await asked.promise

    const closed = close(server)
    end()
    const [response] = await answered
    expect(response.headers.connection).toBe('close')
    expect(await text(response)).toBe('late')
    await closed
    await expect(fetch(`http://127.0.0.1:${port}`)).rejects.toThrow()
    expect(await text(preconnected)).toBe('')
  })

  it('ends what does not end by itself', async () => {
    const { handle, close } = createDeparture((_request, response) => void response.write('endless'))
    const { server, port } = await listenOn('127.0.0.1', 0, handle)
    const socket = send(port, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    await once(socket, 'data')
    const ended = once(socket, 'close')
    await close(server, 10)
    await ended
  })
})

describe('warnings', () => {
  it.each([
    [{}, []],
    [{ server: { host: '::1' } }, []],
    [{ server: { host: '0.0.0.0' } }, ['server.host']],
    [{ server: { host: '0.0.0.0' }, security: { cookie: { secure: true } } }, []],
    [{ server: { trusted_proxies: ['10.0.0.0/8', '::1'] } }, []],
    [{ server: { trusted_proxies: ['0.0.0.0/0'] } }, ['server.trusted_proxies']],
    [{ server: { trusted_proxies: ['::/0'] } }, ['server.trusted_proxies']],
    [{ security: { csrf: { enabled: false } } }, ['security.csrf.enabled']],
    [{ server: { public_url: 'http://chat.example.org' } }, ['server.public_url']],
    [{ server: { public_url: 'HTTP://10.0.0.1:8080' } }, ['server.public_url']],
    [{ server: { public_url: 'http://localhost:8080' } }, []],
    [{ server: { public_url: 'http://[::1]:8080' } }, []],
    [{ server: { public_url: 'http://chat.localhost' } }, []],
    [{ server: { public_url: 'https://chat.example.org' } }, ['security.cookie.secure']],
    [{ server: { public_url: 'https://chat.example.org' }, security: { cookie: { secure: true } } }, []],
    [{ server: { cors: { allowed_origins: ['https://a.example', 'http://localhost:3000', 'http://127.0.0.1'] } } }, []],
    [
      { server: { cors: { allowed_origins: ['http://a.example', 'https://a.example', 'http://b.example'] } } },
      ['server.cors.allowed_origins', 'server.cors.allowed_origins'],
    ],
    [{ security: { password: { bcrypt_cost: 9 } } }, ['security.password.bcrypt_cost']],
    [{ well_known: { entries: { 'security.txt': 'Contact: …' } } }, ['well_known.entries']],
    [{ features: { well_known: true }, well_known: { entries: { 'security.txt': 'Contact: …' } } }, []],
  ])('of %j are %j', (input, keys) => {
    expect(warningsOf(parseConfig(input)).map((warning) => warning.split(' ')[0])).toEqual(keys)
  })

  it.each([
    ['127.0.0.1', true],
    ['127.9.9.9', true],
    ['127.example.org', false],
    ['::1', true],
    ['::', false],
    ['localhost', true],
    ['10.0.0.1', false],
  ])('know whether %s is loopback: %s', (host, loopback) => {
    expect(isLoopback(host)).toBe(loopback)
  })
})

async function listenOn(host: string, port: number, handler = answer) {
  const listening = await listen(handler, { host, port })
  onTestFinished(() => listening.server.closeAllConnections())
  onTestFinished(() => void listening.server.close())
  return listening
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

function withResolvers<T>() {
  let resolve!: (value: T) => void
  const promise = new Promise<T>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}
