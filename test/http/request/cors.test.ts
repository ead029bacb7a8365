import { beforeAll, describe, expect, it } from 'vitest'
import { createChatApp } from '../../../lib/http/app.ts'
import { createChatService, openStorage, parseConfig } from '../../../lib/index.ts'
import { allRoutes } from '../../support/all-routes.ts'
import { describeOnEachDatabase, withoutRows } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { PASSWORD, startService, startThread } from '../../support/service.ts'
import { type SignedHeaders, signInByHand } from '../../support/stream.ts'

const LISTED = 'https://app.example.org'
const LOCAL = 'http://localhost:5173'

const HELLO = { role: 'user', content: 'hello' }

/** Origins that are similar to listed ones, but not listed. */
const UNLISTED = [
  'https://evil.example',
  'null',
  '*',
  '',
  'https://app.example.org.evil.example',
  'https://evil.app.example.org',
  'https://evilapp.example.org',
  'http://app.example.org',
  'https://app.example.org:8443',
  'https://app.example.org/',
  'https://APP.example.org',
  'https://example.org',
  'http://localhost:5174',
  `${LISTED}, ${LOCAL}`,
]

describeOnEachDatabase('a response', (openUrl, dialect) => {
  const service = setUpService(async () => {
    const cors = { allowed_origins: [LISTED, LOCAL] }
    return startService(await openUrl(), {
      config: { server: { cors }, security: { csrf: { header_name: 'X-Own' }, password: { bcrypt_cost: 4 } } },
    })
  })
  let ada: SignedHeaders
  let conversationId: string

  beforeAll(async () => {
    // The typed clients of the thread send the header by its usual name: this one is opened by hand.
    const person = await service.signIn('ada')
    const { conversation_id } = await service.chat.conversations.create(await service.chat.users.actor(person.id))
    conversationId = conversation_id
    ada = await signInByHand(service.base_url, person.email, PASSWORD)
  })

  /** One response of every kind: its status, and how to get it. */
  const KINDS: [kind: string, status: number, method: string, path: () => string, body?: object][] = [
    ['JSON', 200, 'GET', () => '/api/auth/me'],
    ['an error', 404, 'GET', () => '/api/conversations/nothing'],
    ['an error of validation', 422, 'POST', () => '/api/auth/login', { email: 5 }],
    ['a route there is not', 404, 'GET', () => '/nothing'],
    ['a path that is none', 404, 'GET', () => '/api/%zz'],
    ['an unsupported method', 405, 'DELETE', () => '/api/setup'],
    ['nothing to say', 204, 'POST', () => '/api/presence/heartbeat', {}],
    ['OPTIONS', 204, 'OPTIONS', () => '/api/auth/login'],
    ['HEAD', 200, 'HEAD', () => '/api/setup'],
    ['a stream', 200, 'GET', () => `/api/stream/conversations/${conversationId}`],
    ['the stream of all', 200, 'GET', () => '/api/stream'],
    ['a completion', 200, 'POST', () => '/v1/chat/completions', { model: 'x', messages: [HELLO] }],
    [
      'a streamed completion',
      200,
      'POST',
      () => '/v1/chat/completions',
      { model: 'x', stream: true, messages: [HELLO] },
    ],
    ['a failed completion', 422, 'POST', () => '/v1/chat/completions', {}],
    ['health', 200, 'GET', () => '/healthz'],
    ['metrics', 200, 'GET', () => '/metrics'],
    ['the description', 200, 'GET', () => '/openapi.json'],
    ['the description in YAML', 200, 'GET', () => '/openapi.yaml'],
  ]

  describe.each(KINDS)('that is %s', (_, status, method, path, body) => {
    async function headersFor(origin: string | undefined): Promise<Headers> {
      const response = await fetch(service.base_url + path(), {
        method,
        headers: {
          cookie: ada.cookie,
          'x-own': ada['x-csrf-token'],
          ...(origin !== undefined && { origin }),
          ...(body && { 'content-type': 'application/json' }),
        },
        ...(body && { body: JSON.stringify(body) }),
      })
      // A refusal to a page of another site is an error, with the same headers.
      expect([status, 403]).toContain(response.status)
      if (origin === undefined || origin === LISTED) expect(response.status).toBe(status)
      await response.body?.cancel()
      return response.headers
    }

    it('has the headers that restrict browsers, and no others', async () => {
      const headers = await headersFor(undefined)
      expect(pick(headers, SECURITY)).toEqual({
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
        'referrer-policy': 'no-referrer',
        'cross-origin-resource-policy': 'same-origin',
        'strict-transport-security': null,
        vary: 'Origin',
      })
      expect(corsOf(headers)).toEqual([])
    })

    it('can be read by a listed origin, which is named exactly', async () => {
      for (const origin of [LISTED, LOCAL]) {
        const headers = await headersFor(origin)
        expect(headers.get('access-control-allow-origin')).toBe(origin)
        expect(headers.get('access-control-allow-credentials')).toBe('true')
        expect(headers.get('access-control-expose-headers')?.split(', ').sort()).toEqual(EXPOSED)
        expect(headers.get('cross-origin-resource-policy')).toBe('cross-origin')
        expect(headers.get('vary')).toBe('Origin')
      }
    })

    it('can be read by no other origin', async () => {
      for (const origin of UNLISTED) {
        const headers = await headersFor(origin)
        expect(corsOf(headers), origin).toEqual([])
        expect(pick(headers, ['vary', 'cross-origin-resource-policy'])).toEqual({
          vary: 'Origin',
          'cross-origin-resource-policy': 'same-origin',
        })
      }
    })
  })

  const paths = [...new Set(allRoutes.map(([, route]) => route.path as string))]
  const ask = (path: string, origin: string, method = 'POST') =>
    fetch(service.base_url + path.replace(/\{\w+\}/g, 'x'), {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': method, 'access-control-request-headers': 'x-own, x-evil' },
    })

  it.each(withoutRows(dialect, paths))('to the preflight of %s names only what it needs', async (path) => {
    const response = await ask(path, LISTED)
    expect(response.status).toBe(204)
    const methods = allRoutes.flatMap(([, route]) => (route.path === path ? [route.method] : []))
    expect(pick(response.headers, PREFLIGHT)).toEqual({
      'access-control-allow-origin': LISTED,
      'access-control-allow-credentials': 'true',
      'access-control-allow-methods': methods.join(', '),
      'access-control-allow-headers':
        'Authorization, Content-Digest, Content-Type, Idempotency-Key, Last-Event-ID, X-Request-Id, X-UI-Version, X-Own',
      'access-control-max-age': '7200',
      vary: 'Origin',
    })
    for (const origin of UNLISTED) expect(corsOf((await ask(path, origin)).headers), origin).toEqual([])
  })

  it('to the preflight of an unknown path stays 404', async () => {
    expect((await ask('/api/nothing', LISTED)).status).toBe(404)
  })

  it('lets a listed origin change data without the cookie that browsers withhold', async () => {
    const cookie = ada.cookie.replace(/; CSRF-TOKEN=[^;]+/, '')
    const headers = { cookie, 'x-own': ada['x-csrf-token'], 'content-type': 'application/json' }
    const create = (origin: string) =>
      fetch(`${service.base_url}/api/conversations`, {
        method: 'POST',
        headers: { ...headers, origin, 'sec-fetch-site': 'cross-site' },
        body: '{}',
      })
    expect((await create(LISTED)).status).toBe(201)
    expect((await create(UNLISTED[0]!)).status).toBe(403)
  })
})

describe('without configured origins', () => {
  it('no response has CORS headers', async () => {
    const service = await startService('sqlite::memory:')
    const { ada, conversation_id } = await startThread(service)
    const session = await signInByHand(service.base_url, ada.email, PASSWORD)
    const paths = ['/api/auth/me', '/nothing', '/healthz', `/api/stream/conversations/${conversation_id}`]
    for (const path of paths) {
      for (const method of ['GET', 'OPTIONS']) {
        const headers = { ...session, origin: LISTED, 'access-control-request-method': 'GET' }
        const response = await fetch(service.base_url + path, { method, headers })
        await response.body?.cancel()
        expect(corsOf(response.headers)).toEqual([])
        expect(response.headers.get('vary')).toBeNull()
      }
    }
    await service.close()
  })
})

describe('Strict-Transport-Security', () => {
  it.each([
    [undefined, null],
    ['http://chat.example.org', null],
    ['https://chat.example.org', 'max-age=15552000'],
    ['https://chat.example.org/', 'max-age=15552000'],
    // The rest of the host belongs to another application.
    ['https://example.org/chat', null],
    ['https://localhost:8443', null],
    ['https://chat.localhost', null],
  ])('at %s is %s', async (public_url, expected) => {
    const storage = await openStorage({ database: 'sqlite::memory:' })
    const chat = createChatService(parseConfig({ server: public_url ? { public_url } : {} }), storage)
    const app = createChatApp(chat)
    for (const path of ['/healthz', '/nothing']) {
      const response = await app.fetch(new Request(`http://chat.test${path}`))
      expect(response.headers.get('strict-transport-security')).toBe(expected)
    }
    await chat.close()
  })
})

const SECURITY = [
  'x-content-type-options',
  'content-security-policy',
  'referrer-policy',
  'cross-origin-resource-policy',
  'strict-transport-security',
  'vary',
]

const PREFLIGHT = [
  'access-control-allow-origin',
  'access-control-allow-credentials',
  'access-control-allow-methods',
  'access-control-allow-headers',
  'access-control-max-age',
  'vary',
]

const EXPOSED = [
  'Content-Disposition',
  'Content-Range',
  'ETag',
  'Idempotency-Replayed',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'Retry-After',
  'Stream-Position',
  'X-RateLimit-Profile',
  'X-Request-Id',
  'X-Session-Rotated',
]

function pick(headers: Headers, names: string[]): Record<string, string | null> {
  return Object.fromEntries(names.map((name) => [name, headers.get(name)]))
}

/** The names of all CORS headers. */
function corsOf(headers: Headers): string[] {
  return [...headers.keys()].filter((name) => name.startsWith('access-control-'))
}
