import { once } from 'node:events'
import { createServer, type RequestListener, request } from 'node:http'
import type { AddressInfo } from 'node:net'
// @ts-expect-error It has no types of its own, and no host needs them here.
import express from 'express'
import { H3 } from 'h3'
import { toNodeHandler } from 'h3/node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createChatApp, createNodeHandler } from '../../../lib/http/app.ts'
import { isPlainTarget } from '../../../lib/http/request/malformed.ts'
import { type Chat, createChatService, openStorage, parseConfig } from '../../../lib/index.ts'

/** Other spellings of `/metrics`. */
const METRICS = [
  '/metrics/',
  '/metrics//',
  '//metrics',
  '///metrics',
  '/./metrics',
  '/metrics/.',
  '/metrics/./',
  '/x/../metrics',
  '/metrics/x/..',
  '/%2e/metrics',
  '/x/%2E%2e/metrics',
  '/x/.%2e/metrics',
  '/%6Detrics',
  '/metric%73',
  '/%6d%65%74%72%69%63%73',
  '\\metrics',
  '/\\metrics',
  '/.\\metrics',
  '/x\\..\\metrics',
  '/metrics\\',
  '/metrics#x',
  '/metrics#?x',
]
const ADMIN = [
  '//api/admin/users',
  '/api//admin/users',
  '/api/%61dmin/users',
  '/api/./admin/users',
  '/api/admin/users/',
]

describe('a request target', () => {
  it.each([
    ...METRICS,
    ...ADMIN,
    '/api/oauth/%7Euser',
    '/x%2D',
    '/x%5f',
    'http://other//metrics',
    '//',
    ''.padEnd(20_000, '/x'),
  ])('%j is not plain', (target) => expect(isPlainTarget(target, false)).toBe(false))
  it.each([
    '/',
    '/metrics',
    '/metrics?',
    '/metrics?a=//../%41',
    '/a%2Fb',
    '/a%20b',
    '/a%25',
    '/%E2%82%AC',
    '/a.b',
    '/a..b',
    '/...',
    '/a;b/c=d',
    '/%zz',
    '*',
    'http://other/metrics',
    'http://other',
  ])('%j is plain', (target) => expect(isPlainTarget(target, target === '/')).toBe(true))
  it('may end with a slash at the mount path of the service', () => {
    expect(isPlainTarget('/chat/', true)).toBe(true)
    expect(isPlainTarget('/chat//', true)).toBe(false)
    expect(isPlainTarget('/chat/', false)).toBe(false)
  })
})

/** Hosts around the service, and the path of the service in each. */
const HOSTS: Record<string, [prefix: string, host: (chat: Chat) => RequestListener]> = {
  'on node:http': ['', (chat) => createNodeHandler(createChatApp(chat))],
  'under a path of Express': [
    '/chat',
    (chat) => express().use('/chat', createNodeHandler(createChatApp(chat))) as unknown as RequestListener,
  ],
  'mounted in h3': [
    '/chat',
    (chat) => toNodeHandler(new H3().mount('/chat', createChatApp(chat) as H3)) as unknown as RequestListener,
  ],
}

describe.each(Object.entries(HOSTS))('%s', (_, [prefix, host]) => {
  let chat: Chat
  let port: number
  const server = createServer((...args) => listener(...args))
  let listener: RequestListener
  beforeAll(async () => {
    chat = createChatService(
      parseConfig({ server: { trusted_proxies: ['127.0.0.1'] } }),
      await openStorage({ database: 'sqlite::memory:' }),
    )
    await chat.start()
    listener = host(chat)
    await once(server.listen(0, '127.0.0.1'), 'listening')
    port = (server.address() as AddressInfo).port
  })
  afterAll(async () => {
    server.closeAllConnections()
    server.close()
    await chat.close()
  })

  /** Sends a target unchanged, which `fetch` would not do. */
  async function send(path: string, method = 'GET', headers: Record<string, string | string[]> = {}) {
    const sent = request({ port, host: '127.0.0.1', path, method, headers, agent: false }).end()
    const [response] = await once(sent, 'response')
    let text = ''
    for await (const chunk of response) text += chunk
    return {
      status: response.statusCode as number,
      text,
      code: text.startsWith('{') ? JSON.parse(text).code : undefined,
    }
  }

  it('serves one spelling of a path, and refuses every other one', async () => {
    expect((await send(`${prefix}/metrics`)).status).toBe(200)
    expect((await send(`${prefix}/metrics?//../%41`)).status).toBe(200)
    for (const target of [...METRICS, ...ADMIN]) {
      const { status, code } = await send(prefix + target)
      // Under a path, the host may treat some as its own paths.
      const refusals = prefix ? [400, 404] : [400]
      expect([target, refusals.includes(status)]).toEqual([target, true])
      // Node itself refuses a target without a leading slash.
      if (status === 400 && !target.startsWith('\\')) expect([target, code]).toEqual([target, 'bad_request'])
    }
  })

  it('refuses it before the method, the session and the body are checked, also for HEAD and OPTIONS', async () => {
    for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS', 'TRACE'])
      expect([method, (await send(`${prefix}/api/auth//login`, method)).code]).toEqual([method, 'bad_request'])
    expect(await send(`${prefix}/metrics/`, 'HEAD')).toMatchObject({ status: 400, text: '' })
    expect((await send(`${prefix}/v1//models`)).text).toContain('"code":"bad_request"')
    expect((await send(`${prefix}/nothing/`)).code).toBe('bad_request')
    if (!prefix) expect((await send('/api/%zz')).status).toBe(404)
  })

  it('answers at its root, with the slash at its end', async () => {
    expect((await send(`${prefix}/`)).code).toBe('not_found')
    if (prefix) expect((await send(prefix)).code).toBe('not_found')
    if (prefix) expect([400, 404]).toContain((await send(`${prefix}//`)).status)
  })

  it('refuses more headers than Node is sure to keep, so that an address cannot be forged', async () => {
    const many = Object.fromEntries(Array.from({ length: 120 }, (_, i) => [`x-${i}`, 'y']))
    expect((await send(`${prefix}/healthz`, 'GET', many)).status).toBe(431)
    expect((await send(`${prefix}/healthz`, 'GET', { 'x-a': 'b' })).status).toBe(200)
  })
})

it('refuses other spellings over fetch, as far as a Request shows them, and too many headers', async () => {
  const chat = createChatService(parseConfig(), await openStorage({ database: 'sqlite::memory:' }))
  await chat.start()
  const app = createChatApp(chat)
  const ask = async (path: string, headers?: [string, string][]) =>
    (await app.fetch(new Request(`http://localhost${path}`, headers && { headers }))).status
  for (const path of ['/metrics', '/metrics#x', '/x/../metrics', '/metrics?a=//'])
    expect([path, await ask(path)]).toEqual([path, 200])
  for (const path of ['/metrics/', '//metrics', '/%6Detrics']) expect([path, await ask(path)]).toEqual([path, 400])
  expect(
    await ask(
      '/healthz',
      Array.from({ length: 101 }, (_, i) => [`x-${i}`, 'y']),
    ),
  ).toBe(431)
  expect(await ask('/healthz', [['x-a', 'b'.repeat(17_000)]])).toBe(431)
  await chat.close()
})
