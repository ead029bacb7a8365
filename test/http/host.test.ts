import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it } from 'vitest'
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
