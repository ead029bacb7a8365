import { once } from 'node:events'
import { createServer, type RequestListener, request } from 'node:http'
import type { AddressInfo } from 'node:net'
// @ts-expect-error It has no types of its own, and no host needs them here.
import express from 'express'
import { H3 } from 'h3'
import { toNodeHandler } from 'h3/node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createChatApp, createNodeHandler } from '../../lib/http/app.ts'
import { type Chat, createChatService, openStorage, parseConfig } from '../../lib/index.ts'

/** The paths that a rule protects from the network. Without the rule the first is answered 200, the second 401. */
const PROTECTED = ['/metrics', '/api/admin/users']

/** Other spellings of `/chat` and one of those paths below it: wherever parsers of paths may disagree. */
function spellings(prefix: string, path: string): string[] {
  const [first, ...rest] = path.slice(1).split('/')
  const behind = ['', ...rest].join('/')
  const escaped = `%${first!.charCodeAt(0).toString(16)}${first!.slice(1)}`
  const inside = [
    `/${path}`,
    `//${path}`,
    `/.${path}`,
    `/x/..${path}`,
    `/%2e${path}`,
    `/x/%2e%2e${path}`,
    `/api/..${path}`,
    `/api/%2E.${path}`,
    `${path}/`,
    `${path}//`,
    `${path}/.`,
    `${path}/x/..`,
    `${path}/%2e`,
    `${path}%2f`,
    `${path}%00`,
    `${path};x`,
    `${path}%3fx`,
    `${path}#x`,
    `${path}\\`,
    `/%2f${path.slice(1)}`,
    `%2f${path.slice(1)}`,
    `%5c${path.slice(1)}`,
    `/\\${path.slice(1)}`,
    `\\${path.slice(1)}`,
    `/x\\..\\${path.slice(1)}`,
    `/${escaped}${behind}`,
    `/%25${escaped.slice(1)}${behind}`,
    `/%c0%af${path.slice(1)}`,
    path.toUpperCase(),
    ...(behind ? [`/${first}${behind.replaceAll('/', '%2f')}`, `/${first}/${behind}`, `/${first}/.${behind}`] : []),
  ].map((each) => prefix + each)
  if (!prefix) return inside
  const before = ['/', '/.', '/x/..', '/%2e', '/x/%2e%2e', '/\\', '\\', '/x\\..'].map((each) => each + prefix + path)
  const within = [
    `/%63hat${path}`,
    `%2fchat${path}`,
    `/%2fchat${path}`,
    `/CHAT${path}`,
    `/chat/../chat${path}`,
    `/chat/..${path}`,
  ]
  return [...inside, ...before, ...within]
}

/** Hosts around the service, each with a rule that answers 403. */
const HOSTS: Record<string, [prefix: string, host: (chat: Chat) => RequestListener]> = {
  'on node:http': [
    '',
    (chat) => {
      const handle = createNodeHandler(createChatApp(chat))
      return (incoming, response) => {
        const isRefused = PROTECTED.some((path) => incoming.url!.startsWith(path))
        if (isRefused) response.writeHead(403).end()
        else handle(incoming, response)
      }
    },
  ],
  'under a path of node:http': [
    '/chat',
    (chat) => {
      const handle = createNodeHandler(createChatApp(chat))
      return (incoming, response) => {
        const url = incoming.url!
        if (PROTECTED.some((path) => url.startsWith(`/chat${path}`))) return response.writeHead(403).end()
        if (!url.startsWith('/chat/')) return response.writeHead(404).end()
        incoming.url = url.slice('/chat'.length)
        return handle(incoming, response)
      }
    },
  ],
  'under a path of Express': [
    '/chat',
    (chat) => {
      const app = express()
      // Else it takes other spellings of the path of a mount than a proxy does.
      app.enable('case sensitive routing')
      for (const path of PROTECTED)
        app.use(`/chat${path}`, (_: unknown, response: { sendStatus(status: number): void }) =>
          response.sendStatus(403),
        )
      return app.use('/chat', createNodeHandler(createChatApp(chat))) as unknown as RequestListener
    },
  ],
  'mounted in h3': [
    '/chat',
    (chat) => {
      const app = new H3()
      for (const path of PROTECTED)
        for (const pattern of [path, `${path}/**`])
          app.use(`/chat${pattern}`, () => new Response(null, { status: 403 }))
      return toNodeHandler(app.mount('/chat', createChatApp(chat) as H3)) as unknown as RequestListener
    },
  ],
}

describe.each(Object.entries(HOSTS))('a rule on a path before the service %s', (_, [prefix, host]) => {
  let chat: Chat
  let listener: RequestListener
  const server = createServer((...args) => listener(...args))
  beforeAll(async () => {
    chat = createChatService(
      parseConfig({ rate_limits: { admin_api_enabled: true } }),
      await openStorage({ database: 'sqlite::memory:' }),
    )
    await chat.start()
    listener = host(chat)
    await once(server.listen(0, '127.0.0.1'), 'listening')
  })
  afterAll(async () => {
    server.closeAllConnections()
    server.close()
    await chat.close()
  })

  /** The status of a target that is sent unchanged, which `fetch` would not do. */
  async function statusOf(path: string, method = 'GET'): Promise<number> {
    const { port } = server.address() as AddressInfo
    const sent = request({ port, host: '127.0.0.1', path, method, agent: false }).end()
    const [response] = await once(sent, 'response')
    response.resume()
    return response.statusCode
  }

  it('allows other paths', async () => {
    expect(await statusOf(`${prefix}/healthz`)).toBe(200)
    expect(await statusOf(`${prefix}/api/setup`)).toBe(200)
    expect(await statusOf(`${prefix}/api/auth/me`)).toBe(401)
  })

  it.each(PROTECTED)('applies to %s in every spelling', async (path) => {
    expect(await statusOf(prefix + path)).toBe(403)
    for (const target of spellings(prefix, path)) {
      for (const method of ['GET', 'HEAD', 'OPTIONS'])
        expect([400, 403, 404], `${method} ${target}`).toContain(await statusOf(target, method))
    }
  })
})
