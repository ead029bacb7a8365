import { createConnection } from 'node:net'
import { text } from 'node:stream/consumers'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Config, parseConfig } from '../../../lib/config/parse.ts'
import type { AnyRoute } from '../../../lib/endpoint.ts'
import { createChatApp } from '../../../lib/http/app.ts'
import { isForeign } from '../../../lib/http/request/csrf.ts'
import { allRoutes } from '../../support/all-routes.ts'
import { checkedFetch, readFailure } from '../../support/answers.ts'
import { describeOnEachDatabase, withoutRows } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { PASSWORD, startService, startThread } from '../../support/service.ts'
import { type SignedHeaders, signInByHand } from '../../support/stream.ts'

const LISTED = 'https://app.example.org'

describe('a page is', () => {
  const plain = { server: { cors: { allowed_origins: [LISTED] } } }
  const https = { ...plain, server: { ...plain.server, public_url: 'https://chat.example.org/base' } }
  const secure = { ...plain, security: { cookie: { secure: true } } }

  it.each<[verdict: 'foreign' | 'ours', why: string, config: object, headers: Record<string, string>, host?: string]>([
    ['ours', 'no browser at all', plain, {}],
    ['ours', 'the same origin, as the browser says', plain, { 'sec-fetch-site': 'same-origin' }],
    ['ours', 'a typed URL', plain, { 'sec-fetch-site': 'none' }],
    ['ours', 'the same origin, without a referrer', plain, { 'sec-fetch-site': 'same-origin', origin: 'null' }],
    ['foreign', 'another site', plain, { 'sec-fetch-site': 'cross-site' }],
    ['foreign', 'another site that hides', plain, { 'sec-fetch-site': 'cross-site', origin: 'null' }],
    ['foreign', 'a neighbour', plain, { 'sec-fetch-site': 'same-site', origin: 'https://www.example.org' }],
    ['foreign', 'a neighbour that says nothing', plain, { 'sec-fetch-site': 'same-site' }],
    ['foreign', 'a word of a browser to come', plain, { 'sec-fetch-site': 'same-galaxy' }],
    ['foreign', 'two answers at once', plain, { 'sec-fetch-site': 'same-origin, cross-site' }],
    ['ours', 'a listed neighbour', plain, { 'sec-fetch-site': 'same-site', origin: LISTED }],
    ['ours', 'a listed site', plain, { 'sec-fetch-site': 'cross-site', origin: LISTED }],
    ['foreign', 'a listed name as http', plain, { origin: 'http://app.example.org' }],
    ['foreign', 'below a listed name', plain, { origin: 'https://evil.app.example.org' }],
    ['foreign', 'a listed name with a port', plain, { origin: 'https://app.example.org:8443' }],
    ['foreign', 'a listed name in capitals, which no browser sends', plain, { origin: 'https://APP.example.org' }],
    ['foreign', 'an unknown origin in an old browser', plain, { origin: 'https://evil.example' }],
    ['foreign', 'an opaque origin in an old browser', plain, { origin: 'null' }],
    ['foreign', 'an empty origin', plain, { origin: '' }],
    ['ours', 'the host that is called', plain, { origin: 'http://chat.test:8080' }],
    ['ours', 'the host that is called, behind a proxy with HTTPS', plain, { origin: 'https://chat.test:8080' }],
    ['ours', 'the host in other letters', plain, { origin: 'http://chat.test:8080' }, 'CHAT.test:8080'],
    ['ours', 'the host with its usual port', plain, { origin: 'https://chat.test' }, 'chat.test:443'],
    ['ours', 'an address of IPv6', plain, { origin: 'http://[::1]:8080' }, '[::1]:8080'],
    ['foreign', 'the same host, another port', plain, { origin: 'http://chat.test:8081' }],
    ['foreign', 'a host below ours', plain, { origin: 'http://chat.test.evil.example' }],
    ['foreign', 'something that ends like ours', plain, { origin: 'http://evilchat.test:8080' }],
    ['foreign', 'a host that is none', plain, { origin: 'http://chat.test:8080' }, 'a b/:'],
    ['foreign', 'no host at all', plain, { origin: 'http://chat.test:8080' }, ''],
    ['ours', 'the public address, whatever the host is', https, { origin: 'https://chat.example.org' }],
    ['foreign', 'the public address as http', https, { origin: 'http://chat.example.org' }],
    ['foreign', 'the host that is called, where another is public', https, { origin: 'http://chat.test:8080' }],
    ['foreign', 'the public address with a port', https, { origin: 'https://chat.example.org:8443' }],
    ['ours', 'HTTPS where cookies need it', secure, { origin: 'https://chat.test:8080' }],
    ['foreign', 'plain HTTP where cookies need more', secure, { origin: 'http://chat.test:8080' }],
  ])('%s: %s', (verdict, _, input, headers, host = 'chat.test:8080') => {
    const config: Config = parseConfig(input)
    expect(isForeign({ headers: new Headers({ ...headers, host }), url: { host: 'elsewhere' } }, config)).toBe(
      verdict === 'foreign',
    )
  })
})

/** The header of what the route takes. */
function contentTypeOf({ body, bytes }: AnyRoute): Record<string, string> {
  if (body) return { 'content-type': 'application/json' }
  return bytes ? { 'content-type': 'application/octet-stream' } : {}
}

/** Every combination of headers with which a request comes from a page of another site. */
const FOREIGN: Record<string, string>[] = [
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
  { 'sec-fetch-site': 'same-site', origin: 'http://127.0.0.1:1' },
  { origin: 'https://evil.example' },
  { origin: 'null' },
  { origin: 'http://127.0.0.1' },
]

/** Without what takes no cookie: clients of others call it. */
const changing = allRoutes
  .filter(([, route]) => route.changes && !route.by_token)
  .map(([name, route]) => ({ name, route }))

describeOnEachDatabase('every route that changes something', (openUrl, dialect) => {
  const service = setUpService(async () =>
    startService(await openUrl(), {
      config: { server: { cors: { allowed_origins: [LISTED] } }, session: { max_sessions_per_user: 1000 } },
    }),
  )
  let ada: SignedHeaders
  let ids: Record<string, string>

  beforeAll(async () => {
    const {
      ada: { email },
      grace,
      conversation_id,
      root,
    } = await startThread(service)
    ids = {
      conversation_id,
      root_id: root.root_id,
      parent_id: root.root_id,
      message_id: root.root_id,
      emoji: ':tada:',
      user_id: grace.id,
    }
    ada = await signInByHand(service.base_url, email, PASSWORD)
  })

  async function send(route: AnyRoute, headers: Record<string, string>, search = '') {
    const path = route.path.replace(/\{(\w+)\}/g, (_: string, name: string) => ids[name] ?? 'unknown')
    const response = await checkedFetch(service.base_url + path + search, {
      method: route.method,
      headers: { ...ada, ...contentTypeOf(route), ...headers },
      // An invalid body for every route: a call that reaches validation was allowed, and changes nothing.
      ...(route.body && { body: '{"seconds":"no","content":5,"email":5,"title":5,"role":5,"path":5}' }),
    })
    const failure = response.ok ? undefined : await readFailure(response)
    return { status: response.status, code: failure?.code, cookies: response.headers.getSetCookie() }
  }

  // After the set-up, this is 400 before the request is checked.
  const refusable = withoutRows(dialect, changing).filter(({ route }) => !route.before && !route.is_by_address)
  it.each(refusable)('$name is refused to pages of other sites', async ({ route }) => {
    for (const headers of FOREIGN) {
      expect(await send(route, headers), JSON.stringify(headers)).toEqual({
        status: 403,
        code: 'csrf_failed',
        cookies: [],
      })
    }
  })

  const validated = refusable.filter(({ route }) => route.body && !route.body_optional)
  it.each(validated)("$name is open to the service's own pages, to listed ones, and to programs", async ({ route }) => {
    const own = service.base_url
    const welcome = [
      {},
      { origin: own },
      { origin: LISTED, 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'none' },
    ]
    for (const headers of welcome as Record<string, string>[])
      expect((await send(route, headers)).code, JSON.stringify(headers)).not.toBe('csrf_failed')
  })

  const ofSession = refusable.filter(({ route }) => route.access === 'session' || route.access === 'admin')
  const alone = () => ada.cookie.replace(/; CSRF-TOKEN=[^;]+/, '')
  const token = () => ada['x-csrf-token']
  it.each(ofSession)('$name requires the token once, unchanged, and in its header', async ({ route }) => {
    const wrong: [headers: Record<string, string>, search?: string][] = [
      [{ 'x-csrf-token': '' }],
      [{ 'x-csrf-token': `${token()}, ${token()}` }],
      [{ 'x-csrf-token': `${token()},${'x'.repeat(43)}` }],
      [{ 'x-csrf-token': `"${token()}"` }],
      [{ 'x-csrf-token': token().slice(1) }],
      [{ 'x-csrf-token': `${token()}\u00E9` }],
      [{ 'x-csrf-token': '\u00FF'.repeat(43) }],
      [{ 'x-csrf-token': 'x'.repeat(8000) }],
      [{ 'x-csrf-token': '' }, `?X-CSRF-TOKEN=${token()}&csrf_token=${token()}`],
      [{ cookie: alone() }],
      // A listed origin need not send the cookie, but must send the token.
      [{ cookie: alone(), 'x-csrf-token': '', origin: LISTED }],
      [{ cookie: alone(), 'x-csrf-token': 'x'.repeat(43), origin: LISTED }],
      [{ cookie: alone(), origin: 'https://evil.example' }],
    ]
    for (const [headers, search] of wrong)
      expect(await send(route, headers, search), JSON.stringify(headers)).toMatchObject({
        status: 403,
        code: 'csrf_failed',
      })
  })

  it('accepts the header in any case, with spaces around its value', async () => {
    const { port } = new URL(service.base_url)
    const post = (lines: string[]) =>
      raw(Number(port), `POST /api/presence/heartbeat HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n{}`)
    const common = [
      'Host: x',
      'Connection: close',
      'Content-Type: application/json',
      'Content-Length: 2',
      `Cookie: ${ada.cookie}`,
    ]
    expect(await post([...common, `x-CSRF-tOKEN:   ${token()}  `])).toMatch(/^HTTP\/1.1 204 /)
    expect(await post([...common, `X-CSRF-TOKEN: ${token()}`, 'X-CSRF-TOKEN: other'])).toMatch(/^HTTP\/1.1 403 /)
    expect(await post([...common, 'X-CSRF-TOKEN: other', `X-CSRF-TOKEN: ${token()}`])).toMatch(/^HTTP\/1.1 403 /)
    expect(await post([...common, `X-CSRF-TOKEN: ${token()}\0`])).toMatch(/^HTTP\/1.1 400 /)
    expect(await post([...common, `X-CSRF-TOKEN: ${'x'.repeat(20_000)}`])).toMatch(/^HTTP\/1.1 431 /)
  })

  it.each(['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override', '_method'])(
    'cannot be called with another method through %s',
    async (name) => {
      const url = `${service.base_url}/api/conversations/${ids.conversation_id}`
      const overridden = await checkedFetch(url, { method: 'POST', headers: { ...ada, [name]: 'DELETE' } })
      expect(overridden.status).toBe(405)
      const read = await checkedFetch(`${url}?_method=DELETE`, { headers: { ...ada, [name]: 'DELETE' } })
      expect(read.status).toBe(200)
      expect((await checkedFetch(url, { headers: ada })).status).toBe(200)
    },
  )

  const posts = [...new Set(withoutRows(dialect, changing).map(({ route }) => route.path as string))].filter(
    (path) => !allRoutes.some(([, route]) => route.path === path && route.method === 'GET'),
  )
  it.each(posts.map((path) => ({ path })))('$path does nothing for GET, HEAD and OPTIONS', async ({ path }) => {
    const url = service.base_url + path.replace(/\{(\w+)\}/g, (_: string, name: string) => ids[name] ?? 'unknown')
    const statuses = await Promise.all(
      ['GET', 'HEAD', 'OPTIONS'].map(async (method) => (await fetch(url, { method, headers: ada })).status),
    )
    expect(statuses).toEqual([405, 405, 204])
  })

  it('opens no stream for a page of another site', async () => {
    for (const path of ['/api/stream', `/api/stream/conversations/${ids.conversation_id}`]) {
      for (const headers of FOREIGN) {
        const response = await checkedFetch(service.base_url + path, { headers: { ...ada, ...headers } })
        expect((await readFailure(response)).code, JSON.stringify(headers)).toBe('csrf_failed')
      }
      const abort = new AbortController()
      const headers = { ...ada, origin: LISTED, 'sec-fetch-site': 'cross-site' }
      expect((await checkedFetch(service.base_url + path, { headers, signal: abort.signal })).status).toBe(200)
      abort.abort()
    }
  })

  it('allows reads from other sites that change nothing: the page cannot see the result', async () => {
    for (const path of ['/api/auth/me', '/v1/models', '/healthz']) {
      const response = await fetch(service.base_url + path, { headers: { ...ada, 'sec-fetch-site': 'cross-site' } })
      expect([response.status, response.headers.get('cross-origin-resource-policy')]).toEqual([200, 'same-origin'])
    }
  })
})

it('lets no other site set the service up', async () => {
  const service = await startService('sqlite::memory:')
  const setUp = (headers: Record<string, string>, type = 'application/json') =>
    checkedFetch(`${service.base_url}/api/setup`, {
      method: 'POST',
      headers: { 'content-type': type, ...headers },
      body: JSON.stringify({ email: 'eve@example.org', password: PASSWORD }),
    })
  for (const headers of FOREIGN) expect((await readFailure(await setUp(headers))).code).toBe('csrf_failed')
  expect((await readFailure(await setUp({}, 'text/plain'))).code).toBe('unsupported_media_type')
  expect(await service.chat.setup.get()).toEqual({ is_setup: false })
  expect((await setUp({ origin: service.base_url })).status).toBe(200)
  await service.close()
})

it('refuses pages of other sites also without a CSRF token', async () => {
  const service = await startService('sqlite::memory:', {
    config: { security: { csrf: { enabled: false }, password: { bcrypt_cost: 4 } } },
  })
  await service.signIn('ada')
  const { cookie } = await signInByHand(service.base_url, 'ada@example.org', PASSWORD)
  const logout = (headers: Record<string, string>) =>
    fetch(`${service.base_url}/api/auth/logout`, { method: 'POST', headers: { cookie, ...headers } })
  for (const headers of FOREIGN) expect((await logout(headers)).status).toBe(403)
  expect((await logout({})).status).toBe(204)
  await service.close()
})

it('compares with the address of the request if a runtime provides no Host', async () => {
  const service = await startService('sqlite::memory:')
  await service.signIn('ada')
  const app = createChatApp(service.chat)
  const body = JSON.stringify({ email: 'ada@example.org', password: PASSWORD })
  const login = async (origin: string) => {
    const headers = { 'content-type': 'application/json', origin }
    return (await app.fetch(new Request('https://chat.test/api/auth/login', { method: 'POST', headers, body }))).status
  }
  expect(await login('https://chat.test')).toBe(200)
  expect(await login('https://evil.example')).toBe(403)
  await service.close()
})

/** Sends exactly these bytes. @returns the complete response */
async function raw(port: number, request: string): Promise<string> {
  const socket = createConnection(port, '127.0.0.1')
  socket.on('error', () => {})
  socket.write(request, 'latin1')
  return text(socket)
}
