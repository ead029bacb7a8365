import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { createChatApp } from '../../lib/http/app.ts'
import { createNodeListener } from '../../lib/http/node/listener.ts'
import { type Chat, createChatService, openStorage, parseConfig } from '../../lib/index.ts'

const ADA = { email: 'ada@example.org', password: 'correct horse' }
const open: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of open.splice(0)) await close()
})

/** The service inside a host that first modifies the request or the response. */
async function serve(host: (chat: Chat, listener: RequestListener) => RequestListener): Promise<string> {
  const storage = await openStorage({ database: 'sqlite::memory:' })
  const chat = createChatService(parseConfig({ security: { password: { bcrypt_cost: 4 } } }), storage)
  await chat.start()
  await chat.setup.run(ADA)
  const server = createServer(host(chat, createNodeListener(chat))).listen(0, '127.0.0.1')
  await once(server, 'listening')
  open.push(async () => {
    server.closeAllConnections()
    server.close()
    await chat.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const login = (base: string, body = JSON.stringify(ADA)) =>
  fetch(`${base}/api/auth/login`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })

it('sends every cookie when the host has set a header before', async () => {
  const base = await serve((_chat, listener) => (request, response) => {
    response.setHeader('x-host', 'yes')
    listener(request, response)
  })
  const response = await login(base)
  expect(response.headers.get('x-host')).toBe('yes')
  expect(response.headers.getSetCookie().map((cookie) => cookie.split('=')[0])).toEqual([
    'SESSION_ID',
    'CSRF-TOKEN',
    'SESSION_ID-DEVICE',
  ])
  expect(response.headers.get('content-type')).toBe('application/json')
})

it("accepts a body that the host's parser has read", async () => {
  const base = await serve((_chat, listener) => (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      Object.assign(request, { body: JSON.parse(Buffer.concat(chunks).toString()) })
      listener(request, response)
    })
  })
  expect((await login(base)).status).toBe(200)
  expect((await login(base, '{"email":5}')).status).toBe(422)
})

it('answers at once when the host has read the body and kept nothing of it', async () => {
  const base = await serve((_chat, listener) => (request, response) => {
    request.resume().on('end', () => listener(request, response))
  })
  expect((await login(base)).status).toBe(400)
})

/** A host that reads the body first, and leaves on the request what it makes of it. */
const parsedBy = (parse: (bytes: Buffer) => object) =>
  serve((_chat, listener) => (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => listener(Object.assign(request, parse(Buffer.concat(chunks))), response))
  })

it.each<[string, (bytes: Buffer) => object]>([
  ['bytes', (body) => ({ body })],
  ['text', (bytes) => ({ body: bytes.toString() })],
  ['the bytes beside a value of its own', (rawBody) => ({ rawBody, body: new Map() })],
])('uses the body when the host has left %s', async (_what, parse) => {
  const base = await parsedBy(parse)
  expect((await login(base)).status).toBe(200)
  expect((await login(base, '{"email":')).status).toBe(400)
  const large = await login(base, JSON.stringify({ ...ADA, password: 'x'.repeat(2_000_000) }))
  expect([large.status, (await large.json()).code]).toEqual([413, 'payload_too_large'])
})

it.each<[string, (bytes: Buffer) => object]>([
  ['a map', () => ({ body: new Map([['email', 'ada@example.org']]) })],
  ['a form', () => ({ body: new FormData() })],
  ['a number', () => ({ body: 5 })],
])('refuses a body of which the host has left %s', async (_what, parse) => {
  const response = await login(await parsedBy(parse))
  const { code, detail } = (await response.json()) as { code: string; detail: string }
  expect([response.status, code]).toEqual([400, 'malformed_json'])
  expect(detail).toContain('has read the body before the chat')
})

it('refuses a body that a fetch host has read', async () => {
  const chat = createChatService(parseConfig(), await openStorage({ database: 'sqlite::memory:' }))
  await chat.start()
  open.push(() => chat.close())
  const headers = { 'content-type': 'application/json' }
  const request = new Request('http://host.test/api/auth/login', { method: 'POST', headers, body: JSON.stringify(ADA) })
  request.body?.getReader()
  const response = await createChatApp(chat).fetch(request)
  expect([response.status, (await response.json()).detail]).toEqual([400, expect.stringContaining('has read the body')])
})
