import { once } from 'node:events'
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
// @ts-expect-error It has no types of its own, and no host needs them here.
import compression from 'compression'
// @ts-expect-error As above.
import express from 'express'
// @ts-expect-error As above.
import session from 'express-session'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createChatApp, createNodeHandler } from '../../lib/http/app.ts'
import { type Chat, createChatService, openStorage, parseConfig } from '../../lib/index.ts'

/** What a host puts in front of the chat. */
const FRONTS: Record<string, () => unknown[]> = {
  'express-session': () => [session(SESSION)],
  compression: () => [compression({ threshold: 0 })],
  'compression, express-session': () => [compression({ threshold: 0 }), session(SESSION)],
  'express-session, compression': () => [session(SESSION), compression({ threshold: 0 })],
  'headers that are changed at the last moment': () => [lateHeaders],
}

const SESSION = { secret: 'a secret of the host', resave: true, saveUninitialized: true, rolling: true }

/** As old versions of `on-headers` do it: they read a list of headers as a list of pairs. */
function lateHeaders(_request: unknown, response: ServerResponse, next: () => void): void {
  const { writeHead } = response
  response.writeHead = function (this: ServerResponse, status: number, headers?: unknown) {
    for (const [name, value] of (headers ?? []) as [string, string][]) this.setHeader(name, value)
    this.setHeader('x-late', 'yes')
    return writeHead.call(this, status)
  } as typeof writeHead
  next()
}

const ADA = { email: 'ada@example.org', password: 'correct horse' }

describe.each(Object.entries(FRONTS))('behind %s', (_name, front) => {
  let chat: Chat
  let base: string
  let cookie: string
  let csrf: string
  const printed = vi.spyOn(process.stderr, 'write')
  const errors = vi.spyOn(console, 'error')
  let close = async () => {}

  beforeAll(async () => {
    const config = parseConfig({ security: { password: { bcrypt_cost: 4 } } })
    chat = createChatService(config, await openStorage({ database: 'sqlite::memory:' }))
    await chat.start()
    await chat.setup.run(ADA)
    const host = express()
    for (const middleware of front()) host.use(middleware)
    host.use('/chat', createNodeHandler(createChatApp(chat)))
    const server = createServer(host).listen(0, '127.0.0.1')
    await once(server, 'listening')
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/chat`
    close = async () => {
      server.closeAllConnections()
      server.close()
      await chat.close()
    }
    const login = await post('/api/auth/login', ADA)
    expect(login.status).toBe(200)
    const cookies = login.headers.getSetCookie().map((line) => line.split(';')[0]!)
    cookie = cookies.join('; ')
    csrf = cookies.find((line) => line.startsWith('CSRF-TOKEN='))!.split('=')[1]!
  })
  afterAll(() => close())

  function post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
    const type = { 'content-type': 'application/json' }
    return fetch(base + path, { method: 'POST', headers: { ...type, ...headers }, body: JSON.stringify(body) })
  }

  it('gives whole answers, with and without a body, and prints nothing', async () => {
    printed.mockClear()
    errors.mockClear()
    const mine = { cookie, 'x-csrf-token': csrf }
    const made = await post('/api/conversations', { title: 'Engines' }, mine)
    expect(made.status).toBe(201)
    const { conversation_id } = (await made.json()) as { conversation_id: string }
    for (let i = 0; i < 3; i++) {
      const response = await fetch(`${base}/api/conversations/${conversation_id}`, { headers: mine })
      expect(await response.json()).toMatchObject({ title: 'Engines' })
    }
    const head = await fetch(`${base}/api/conversations`, { method: 'HEAD', headers: mine })
    expect([head.status, await head.text()]).toEqual([200, ''])
    expect((await fetch(`${base}/api/auth/me`)).status).toBe(401)
    const gone = await fetch(`${base}/api/conversations/${conversation_id}`, { method: 'DELETE', headers: mine })
    expect([gone.status, await gone.text()]).toEqual([204, ''])
    expect(await (await fetch(`${base}/healthz`)).json()).toEqual({ status: 'ok' })
    expect(printed).not.toHaveBeenCalled()
    expect(errors).not.toHaveBeenCalled()
  })

  it('answers a refused body, and keeps the host alive', async () => {
    const large = await post('/api/auth/login', { email: 'a'.repeat(2_000_000), password: 'x' })
    expect([large.status, (await large.json()).code]).toEqual([413, 'payload_too_large'])
    expect((await fetch(`${base}/healthz`)).status).toBe(200)
  })

  it('streams events as they happen, uncompressed', async () => {
    const ada = await chat.auth.authenticate(new Headers({ cookie }))
    const { conversation_id } = await chat.conversations.create(ada, { title: 'Live' })
    const url = new URL(`${base}/api/stream/conversations/${conversation_id}`)
    const client = httpRequest(url, { headers: { cookie, 'accept-encoding': 'gzip, br' } }).end()
    const [stream] = (await once(client, 'response')) as [IncomingMessage]
    expect([stream.statusCode, stream.headers['content-encoding']]).toEqual([200, undefined])
    let seen = ''
    for await (const chunk of stream) {
      const isReady = seen.includes('event: stream.ready')
      seen += chunk
      if (!isReady && seen.includes('event: stream.ready'))
        await chat.messages.postRoot(ada, conversation_id, { content: 'Does it run?' })
      if (seen.includes('Does it run?')) break
    }
    expect(seen).toContain('event: message.new')
  })
})
