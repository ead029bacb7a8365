import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import type { Log } from '../../../lib/context.ts'
import type { AnyRoute } from '../../../lib/endpoint.ts'
import { routes } from '../../../lib/endpoints.ts'
import { createChatApp } from '../../../lib/http/app.ts'
import { createRequestLog, type RequestEntry } from '../../../lib/http/response/request-log.ts'
import { ChatError, parseConfig, type Storage } from '../../../lib/index.ts'
import { createBrowser, PUBLIC_URL } from '../../accounts/oauth/browser.ts'
import { startOpenId } from '../../accounts/oauth/openid.ts'
import { PASSWORD, type ServiceOptions, startService, startThread } from '../../support/service.ts'
import { openStream, signInByHand } from '../../support/stream.ts'

interface Line extends Partial<RequestEntry> {
  level: string
}

/** A log that stores the lines of requests. */
function recorder() {
  const lines: Line[] = []
  const at =
    (level: string) =>
    (message: string, fields: Record<string, unknown> = {}) => {
      if (message === 'request') lines.push({ level, ...fields })
    }
  const log: Log = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
  /** The lines of the test itself, without those of its set-up. */
  const of = (route: string | undefined) => lines.filter((line) => line.route === route)
  return { log, lines, of }
}

async function start(requests: 'all' | 'problems' | 'none', options: ServiceOptions = {}) {
  const { log, lines, of } = recorder()
  const service = await startService('sqlite::memory:', {
    ...options,
    config: { ...options.config, log: { requests } },
    ports: { log },
  })
  onTestFinished(() => service.close())
  return { service, lines, of }
}

it('logs the route, user, status and duration of a request, and nothing else', async () => {
  const { service, lines, of } = await start('all')
  const { ada, conversation_id } = await startThread(service)
  await ada.conversations.get(conversation_id)
  const headers = { 'x-request-id': 'mine-and-only', 'user-agent': 'canary', cookie: 'a=canary', canary: 'canary' }
  const sent = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' } }
  await fetch(`${service.base_url}/api/threads/canary/root?canary=1`, { ...sent, body: '{"content":"canary"}' })
  await fetch(`${service.base_url}/canary?canary`, { headers })
  await fetch(`${service.base_url}/v1/models`, { ...sent, body: '{}' })

  expect(of('/api/conversations/{conversation_id}')).toEqual([
    {
      level: 'info',
      request_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      method: 'GET',
      route: '/api/conversations/{conversation_id}',
      status: 200,
      ms: expect.any(Number),
      user_id: ada.id,
    },
  ])
  const common = { level: 'info', request_id: 'mine-and-only', ms: expect.any(Number) }
  expect(lines.filter(({ request_id }) => request_id === 'mine-and-only')).toEqual([
    { ...common, method: 'POST', route: '/api/threads/{conversation_id}/root', status: 401 },
    { ...common, method: 'GET', status: 404 },
    { ...common, method: 'POST', route: '/v1/models', status: 405 },
  ])
  expect(JSON.stringify(lines)).not.toContain('canary')
})

it('logs the status of a sign-in through a provider: a redirect for a browser; a HEAD signs no user in', async () => {
  const provider = await startOpenId('provider_a')
  onTestFinished(() => provider.close())
  const { service, of } = await start('all', {
    config: { server: { public_url: PUBLIC_URL }, oauth: { provider_a: provider.config } },
  })
  await service.signIn('admin')
  const grace = createBrowser(service.base_url)
  await grace.signIn('provider_a', 'grace', { accept: 'text/html,*/*' })
  await grace.signIn('provider_a', 'grace')
  await grace.ask('/api/oauth/provider_a/callback', { method: 'HEAD' })
  expect(of('/api/oauth/{provider}/callback').map(({ method, status }) => [method, status])).toEqual([
    ['GET', 303],
    ['GET', 200],
    ['HEAD', 200],
  ])
})

it('logs probes at the level debug only', async () => {
  const { service, of } = await start('all')
  await service.client().ops.health()
  await service.client().ops.metrics()
  expect([...of('/healthz'), ...of('/metrics')].map(({ level, status }) => [level, status])).toEqual([
    ['debug', 200],
    ['debug', 200],
  ])
})

it('logs a stream once, when it ends', async () => {
  const { service, of } = await start('all')
  const { ada, conversation_id } = await startThread(service)
  const { cookie } = await signInByHand(service.base_url, ada.email, PASSWORD)
  const route = '/api/stream/conversations/{conversation_id}'
  const stream = await openStream(service.base_url, conversation_id, { cookie })
  await stream.until('stream.ready')
  expect(of(route)).toEqual([])
  await stream.close()
  await expect.poll(() => of(route)).toHaveLength(1)

  // The same in any other runtime, and ended by the service.
  const app = createChatApp(service.chat)
  const open = (method = 'GET') =>
    app.fetch(
      new Request(`http://localhost/api/stream/conversations/${conversation_id}`, { method, headers: { cookie } }),
    )
  const [left, ended] = [await open(), await open()]
  expect((await open('HEAD')).status).toBe(200)
  expect(of(route)).toHaveLength(2)
  await left.body!.cancel()
  expect(of(route)).toHaveLength(3)
  service.chat.drain()
  await ended.text()
  expect(of(route).map(({ status, user_id }) => [status, user_id])).toEqual(Array(4).fill([200, ada.id]))
})

it('logs problems only, unless configured otherwise', async () => {
  let isAway = false
  const wrap = (storage: Storage): Storage => ({
    ...storage,
    db: {
      ...storage.db,
      get: async (sql) => {
        if (isAway) throw new ChatError('unavailable')
        return storage.db.get(sql)
      },
    },
  })
  expect(parseConfig().log.requests).toBe('problems')
  const { service, lines } = await start('problems', { wrap })
  await fetch(`${service.base_url}/nothing`)
  await fetch(`${service.base_url}/v1/models`)
  await fetch(`${service.base_url}/api/auth/me`)
  expect(lines).toEqual([])
  isAway = true
  expect((await fetch(`${service.base_url}/api/setup`)).status).toBe(503)
  isAway = false
  expect(lines).toMatchObject([{ level: 'warn', method: 'GET', route: '/api/setup', status: 503 }])
})

it.each<[AnyRoute | undefined, Partial<RequestEntry>, Record<'all' | 'problems' | 'none', string | undefined>]>([
  [routes.authMe, {}, { all: 'info', problems: undefined, none: undefined }],
  [routes.authMe, { status: 429 }, { all: 'info', problems: undefined, none: undefined }],
  [routes.authMe, { status: 500 }, { all: 'warn', problems: 'warn', none: undefined }],
  [routes.authMe, { ms: 1_000 }, { all: 'info', problems: undefined, none: undefined }],
  [routes.authMe, { ms: 1_001 }, { all: 'warn', problems: 'warn', none: undefined }],
  [undefined, { status: 404 }, { all: 'info', problems: undefined, none: undefined }],
  [routes.eventsStream, { ms: 86_400_000 }, { all: 'info', problems: undefined, none: undefined }],
  [routes.opsReadiness, { status: 503 }, { all: 'debug', problems: undefined, none: undefined }],
])('%# has the appropriate level', (route, entry, levels) => {
  for (const [requests, level] of Object.entries(levels)) {
    const { log, lines } = recorder()
    const tell = createRequestLog(parseConfig({ log: { requests: requests as keyof typeof levels } }), log)
    tell(route, { request_id: 'r', method: 'GET', status: 200, ms: 1.2345, ...entry, ...{ secret: 'canary' } })
    expect(lines.map((line) => line.level)).toEqual(level === undefined ? [] : [level])
    for (const line of lines) expect(line).not.toHaveProperty('secret')
  }
})

it('logs a pipelined request whose client leaves before its turn', async () => {
  const { service, of } = await start('all')
  await startThread(service)
  const { cookie } = await signInByHand(service.base_url, 'ada@example.org', PASSWORD)
  const socket = connect(Number(new URL(service.base_url).port), '127.0.0.1')
  const ask = (path: string) => `GET ${path} HTTP/1.1\r\nhost: x\r\ncookie: ${cookie}\r\n\r\n`
  // The stream does not end, and the others wait behind it.
  socket.write(ask('/api/stream') + ask('/api/auth/me').repeat(2))
  await once(socket, 'data')
  socket.destroy()
  await expect.poll(() => of('/api/auth/me').map(({ status }) => status)).toEqual([499, 499])
  await expect.poll(() => of('/api/stream').map(({ status }) => status)).toEqual([200])
})
