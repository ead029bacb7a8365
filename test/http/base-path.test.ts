import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
// @ts-expect-error It has no types of its own, and no host needs them here.
import express from 'express'
import { H3 } from 'h3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { basePathOf, publicUrlOf } from '../../lib/config/base-path.ts'
import { toLink } from '../../lib/config/links.ts'
import { oauthProviders } from '../../lib/config/oauth.ts'
import { createChatApp, createNodeHandler } from '../../lib/http/app.ts'
import { type Chat, createChatService, openStorage, parseConfig } from '../../lib/index.ts'

const BASE = '/apps/chat'

const parsed = (public_url: string | undefined, base_path: string | undefined) =>
  parseConfig({ server: { ...(public_url && { public_url }), ...(base_path && { base_path }) } })

it.each([
  [undefined, undefined, '', undefined],
  [undefined, BASE, BASE, undefined],
  ['https://x.test', undefined, '', 'https://x.test'],
  ['https://x.test', BASE, BASE, `https://x.test${BASE}`],
  ['https://x.test/', BASE, BASE, `https://x.test${BASE}`],
  [`https://x.test${BASE}/`, undefined, BASE, `https://x.test${BASE}`],
  [`https://x.test${BASE}`, BASE, BASE, `https://x.test${BASE}`],
])('a public URL %s with the base path %s is at %s, %s', (url, path, expected, whole) => {
  const config = parsed(url, path)
  expect([basePathOf(config), publicUrlOf(config)]).toEqual([expected, whole])
})

it('is refused beside a public URL with another path', () => {
  expect(() => parsed('https://x.test/other', BASE)).toThrow('server.base_path: must be /other')
})

it.each(['chat', '/', '/chat/', '//chat', '/a/../b', '/.', '/a b', '/%61', `/${'a'.repeat(200)}`])(
  'is refused as %s',
  (path) => {
    expect(() => parsed(undefined, path)).toThrow('server.base_path: must be a path as /chat')
  },
)

it('is in mailed links, in the callbacks of providers and in the description', async () => {
  const credentials = { client_id: 'id', client_secret: 'secret', issuer: 'https://id.test' }
  const config = parseConfig({
    server: { public_url: 'https://x.test', base_path: BASE },
    oauth: { own: credentials },
  })
  expect(toLink(config, 'reset_password', 't')).toBe(`https://x.test${BASE}/account/reset-password#token=t`)
  expect(oauthProviders(config)[0]?.redirect_uri).toBe(`https://x.test${BASE}/api/oauth/own/callback`)
})

describe('a service with a base path', () => {
  let chat: Chat
  const servers: ReturnType<typeof createServer>[] = []

  beforeAll(async () => {
    chat = createChatService(parsed(undefined, BASE), await openStorage({ database: 'sqlite::memory:' }))
    await chat.start()
  })
  afterAll(async () => {
    for (const server of servers) server.close()
    await chat.close()
  })

  async function listen(handler: Parameters<typeof createServer>[1]): Promise<(path: string) => Promise<Response>> {
    const server = createServer(handler).listen(0, '127.0.0.1')
    servers.push(server)
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    return (path) => fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: 'close' } })
  }

  /** The same service in hosts that leave the path, and in hosts that cut it off. */
  const hosts: Record<string, () => Promise<(path: string) => Promise<Response>>> = {
    'node:http': () => listen(createNodeHandler(createChatApp(chat))),
    'Express, which cuts': () => listen(express().use(BASE, createNodeHandler(createChatApp(chat)))),
    'Express, which does not': () => listen(express().use(createNodeHandler(createChatApp(chat)))),
    'h3, which cuts': async () => {
      const host = new H3().mount(BASE, createChatApp(chat) as H3)
      return async (path) => host.fetch(new Request(`http://x.test${path}`))
    },
    fetch: async () => {
      const app = createChatApp(chat)
      return async (path) => app.fetch(new Request(`http://x.test${path}`))
    },
  }

  it('is not reached below it twice where the host has cut it off', async () => {
    const get = await listen(express().use(BASE, createNodeHandler(createChatApp(chat))))
    const found = await Promise.all(['/healthz', '/api/setup', '/metrics'].map((path) => get(BASE + BASE + path)))
    expect(found.map(({ status }) => status)).toEqual([404, 404, 404])
  })

  it.each(Object.entries(hosts))('is reached below it in %s', async (_name, open) => {
    const get = await open()
    expect(await (await get(`${BASE}/healthz`)).json()).toEqual({ status: 'ok' })
    const statuses = [
      '/api/auth/me',
      '/api/nothing',
      '/nothing',
      '/v1/models',
      '/account/reset-password?token=x',
      '//api',
    ]
    const found = await Promise.all(statuses.map(async (path) => (await get(BASE + path)).status))
    expect(found).toEqual([401, 404, 404, 200, 200, 400])
    const me = await get(`${BASE}/api/auth/me`)
    expect(me.headers.get('cache-control')).toBe('no-store')
    const description = (await (await get(`${BASE}/openapi.json`)).json()) as { servers: unknown }
    expect(description.servers).toEqual([{ url: BASE }])
  })
})
