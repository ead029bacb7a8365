import { beforeAll, describe, expect, it } from 'vitest'
import type { AnyRoute } from '../../lib/endpoint.ts'
import { OPERATOR } from '../../lib/index.ts'
import { allRoutes } from '../support/all-routes.ts'
import { checkedFetch, readFailure } from '../support/answers.ts'
import { describeOnEachDatabase, withoutRows } from '../support/databases.ts'
import { setUpService } from '../support/describe-service.ts'
import { filesInFolder } from '../support/files-folder.ts'
import { PASSWORD, startService, startThread, UNREACHABLE_PROVIDER } from '../support/service.ts'
import { signInByHand } from '../support/stream.ts'

/** The least body that a call may have. */
const leastBody = ({ body, bytes }: AnyRoute) => (body || bytes) && '{}'

const mediaTypeOf = ({ bytes }: Pick<AnyRoute, 'bytes'>) => (bytes ? 'application/octet-stream' : 'application/json')

// Tests that follow from the route value alone are generated for every route.
describeOnEachDatabase('every route', (openUrl, dialect) => {
  const service = setUpService(async () =>
    startService(await openUrl(), {
      config: {
        oauth: { provider_a: UNREACHABLE_PROVIDER },
        attachments: await filesInFolder(),
      },
    }),
  )
  let admin: Headers_
  let outsider: Headers_
  let key: Headers_
  let server_key: string
  let disabled: string
  let ids: Record<string, string>
  type Headers_ = Record<string, string>

  beforeAll(async () => {
    const { ada, eve, grace, conversation_id, root } = await startThread(service)
    await ada.conversations.rename(conversation_id, { policy: { receipts: 'on' } })
    admin = await signInByHand(service.base_url, ada.email, PASSWORD)
    outsider = await signInByHand(service.base_url, eve.email, PASSWORD)
    key = { authorization: `Bearer ${(await ada.keys.create({ name: 'sdk' })).key}` }
    server_key = (await service.chat.serverKeys.create(OPERATOR, { name: 'shop', scopes: ['act_as'] })).key
    const { user } = await service.chat.users.ensure(OPERATOR, { subject: 'disabled' })
    await service.chat.users.change(OPERATOR, user.id, { disabled: true })
    disabled = user.id
    const { webhook } = await ada.webhooks.create({ url: 'https://receiver.example/events' })
    ids = {
      webhook_id: webhook.id,
      provider: 'provider_a',
      path: 'security.txt',
      chat_id: root.root_id,
      conversation_id,
      root_id: root.root_id,
      parent_id: root.message_id,
      message_id: root.message_id,
      emoji: '%F0%9F%91%8D',
      user_id: grace.id,
      attachment_id: '01890000-0000-7000-8000-000000000000',
      n: '1',
    }
  })

  /** Clients of others know no cookies. */
  const isByKey = ({ by_token, access }: AnyRoute) => by_token === true && access === 'session'
  const asAdmin = (route: AnyRoute) => (isByKey(route) ? key : admin)

  const pathOf = (route: AnyRoute) => route.path.replace(/\{(\w+)\}/g, (_: string, name: string) => ids[name]!)

  async function send(route: Pick<AnyRoute, 'method' | 'bytes'> & { path: string }, headers: Headers_, body?: string) {
    const init = {
      method: route.method,
      headers: { ...(body !== undefined && { 'content-type': mediaTypeOf(route) }), ...headers },
    }
    const response = await checkedFetch(service.base_url + pathOf(route as AnyRoute), {
      ...init,
      ...(body !== undefined && { body }),
    })
    const failure = response.ok ? undefined : await readFailure(response)
    if (response.ok) await response.body?.cancel()
    return { status: response.status, headers: response.headers, code: failure?.code, errors: failure?.errors }
  }

  const having = (predicate: (route: AnyRoute) => boolean) =>
    allRoutes.filter(([, route]) => predicate(route)).map(([name, route]) => ({ name, route }))
  /** Those whose calls are to be refused before a row is looked up. */
  const early = (predicate: (route: AnyRoute) => boolean) => withoutRows(dialect, having(predicate))
  const hasHistory = (route: AnyRoute) => /^\/api\/(ui|ag-ui)(\/|$)/.test(route.path)
  const ofSession = (route: AnyRoute) => route.access === 'session' || route.access === 'admin'
  const aboutConversation = (route: AnyRoute) =>
    ofSession(route) && /conversation_id|root_id|parent_id|message_id/.test(route.path)

  it.each(early(ofSession))('$name requires a session', async ({ route }) => {
    expect(await send(route, {}, leastBody(route))).toMatchObject({ status: 401, code: 'unauthenticated' })
  })

  it.each(early((route) => ofSession(route) && route.changes && !isByKey(route)))(
    '$name requires the CSRF token',
    async ({ route }) => {
      const body = leastBody(route)
      const { cookie } = admin
      expect(await send(route, { cookie: cookie! }, body)).toMatchObject({ status: 403, code: 'csrf_failed' })
      expect(await send(route, { cookie: cookie!, 'x-csrf-token': 'wrong' }, body)).toMatchObject({
        code: 'csrf_failed',
      })
      expect(await send(route, { ...admin, 'x-csrf-token': outsider['x-csrf-token']! }, body)).toMatchObject({
        code: 'csrf_failed',
      })
      // Header and cookie were both set by a neighbouring host: they do not belong to this session.
      const tossed = cookie!.replace(/CSRF-TOKEN=[^;]+/, `CSRF-TOKEN=${outsider['x-csrf-token']}`)
      expect(await send(route, { cookie: tossed, 'x-csrf-token': outsider['x-csrf-token']! }, body)).toMatchObject({
        code: 'csrf_failed',
      })
      const alone = cookie!.replace(/; CSRF-TOKEN=[^;]+/, '')
      expect(await send(route, { ...admin, cookie: alone }, body)).toMatchObject({ code: 'csrf_failed' })
    },
  )

  it.each(early((route) => route.changes && !route.before && !route.is_by_address && !isByKey(route)))(
    '$name refuses another site',
    async ({ route }) => {
      expect(await send(route, { ...admin, 'sec-fetch-site': 'cross-site' }, leastBody(route))).toMatchObject({
        status: 403,
        code: 'csrf_failed',
      })
    },
  )

  it.each(early((route) => route.access !== 'public' && !route.before))(
    '$name describes for whom a server key does not act',
    async ({ route }) => {
      const acting = (name: string) =>
        send(route, { authorization: `Bearer ${server_key}`, 'chat-act-as': name }, leastBody(route))
      expect(await acting(`user:${ids.attachment_id}`)).toMatchObject({ status: 404, code: 'not_found' })
      expect(await acting(`user:${disabled}`)).toMatchObject({ status: 403, code: 'account_disabled' })
      expect(await acting('nobody')).toMatchObject({ status: 422, code: 'validation_failed' })
    },
  )

  it.each(having(aboutConversation))('$name returns not_found to an outsider', async ({ route }) => {
    const body = route.body && JSON.stringify(validBodies[route.path] ?? {})
    expect(await send(route, outsider, body)).toMatchObject({ status: 404, code: 'not_found' })
    const unknown = { ...route, path: route.path.replace(/\{\w+\}/, '01890000-0000-7000-8000-000000000000') }
    expect(await send(unknown, admin, body)).toMatchObject({ status: 404, code: 'not_found' })
    for (const malformed of ['nope', '%00', '%zz', "'--", '%F0%9F%92%A9']) {
      const path = route.path.replace(/\{\w+\}/, malformed)
      expect(await send({ ...route, path }, admin, body), malformed).toMatchObject({ status: 404, code: 'not_found' })
    }
  })
  const params = { requests_per_second: 1, burst: 1 }
  const adminBodies: Record<string, object> = {
    '/api/admin/users/merge': { from: { subject: 'one' }, into: { subject: 'other' } },
    '/api/admin/webhooks/{webhook_id}': { enabled: false },
    '/api/admin/limits/profiles': { name: 'x', params },
    '/api/admin/limits/reset': { address: '192.0.2.7' },
    '/api/admin/limits/profiles/{id}': { params },
    '/api/admin/limits/assignments': {
      profile_id: '01890000-0000-7000-8000-000000000000',
      method: 'GET',
      path: '/api/users',
    },
  }
  const validBodies: Record<string, object> = {
    '/api/conversations/{conversation_id}/commands': { bot_id: '01890000-0000-7000-8000-000000000000', name: 'x' },
    '/api/conversations/{conversation_id}/hooks': { name: 'Alerts' },
    '/api/messages/{message_id}/chunks': { idx: 0, content: 'x' },
    '/api/conversations/{conversation_id}/notices': { user_id: '01890000-0000-7000-8000-000000000000', content: 'x' },
    '/api/webhooks/{webhook_id}/replay': { since: '2026-01-01T00:00:00Z' },
    '/api/messages/{message_id}/feedback': { rating: 'up' },
    '/api/approvals/{call_id}': { approve: true },
    '/api/webhooks': { url: 'https://receiver.example/events' },
    '/api/conversations/{conversation_id}/attachments': { name: 'x', size: 1 },
    '/api/threads/{conversation_id}/root': { content: 'x' },
    '/api/messages/{parent_id}/reply': { content: 'x' },
    '/api/messages/{message_id}/edit': { content: 'x' },
    '/api/conversations/{conversation_id}': { title: 'x' },
    '/api/conversations/{conversation_id}/participants/{user_id}': { role: 'viewer' },
    '/api/conversations/{conversation_id}/participants': { username: 'eve' },
    '/api/threads/{root_id}/unread': { message_id: '01890000-0000-7000-8000-000000000000' },
    '/api/threads/{root_id}': { title: 'x' },
    '/api/conversations/{conversation_id}/unread': { message_id: '01890000-0000-7000-8000-000000000000' },
  }

  it.each(having((route) => route.access === 'admin'))('$name is for administrators only', async ({ route }) => {
    const body = route.body && JSON.stringify(adminBodies[route.path] ?? { username: 'x', email: 'x@example.org' })
    expect(await send(route, outsider, body)).toMatchObject({
      status: 403,
      code: 'forbidden',
    })
  })

  describe.each(early((route) => route.body !== undefined && route.before === undefined))('$name', ({ route }) => {
    it.each([
      ...(route.body_optional ? [] : [['nothing', '']]),
      ['half of it', '{"a":'],
      ['NaN', '{"content":NaN}'],
      ['nested deeply', `${'{"a":'.repeat(40)}1${'}'.repeat(40)}`],
      ['a key that reaches for the prototype', '{"__proto__":{"admin":true}}'],
      ['too many entries', JSON.stringify({ content: Array(hasHistory(route) ? 200_000 : 20_000).fill(0) })],
    ])('refuses a body that is not JSON: %s', async (_, body) => {
      expect(await send(route, asAdmin(route), body)).toMatchObject({ status: 400, code: 'malformed_json' })
    })

    it('refuses invalid UTF-8', async () => {
      const init = {
        method: route.method,
        headers: { ...asAdmin(route), 'content-type': 'application/json' },
        body: Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]),
      }
      const response = await checkedFetch(service.base_url + pathOf(route), init)
      expect((await readFailure(response)).code).toBe('malformed_json')
    })

    it.each([
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/json; charset=latin1',
      '',
    ])('refuses the media type %j', async (type) => {
      const body = Buffer.from('{}')
      const response = await checkedFetch(service.base_url + pathOf(route), {
        method: route.method,
        headers: { ...asAdmin(route), 'content-type': type },
        body,
      })
      expect((await readFailure(response)).code).toBe('unsupported_media_type')
    })

    it('refuses a body above the maximum size, with or without a length', async () => {
      const maximum = (hasHistory(route) ? 2048 : route.path.startsWith('/v1/') ? 1024 : 512) * 1024
      expect(await send(route, asAdmin(route), JSON.stringify({ content: 'x'.repeat(maximum) }))).toMatchObject({
        status: 413,
        code: 'payload_too_large',
      })
      const chunks = new ReadableStream({
        pull(controller) {
          controller.enqueue(new Uint8Array(65_536).fill(32))
        },
      })
      const init = {
        method: route.method,
        headers: { ...asAdmin(route), 'content-type': 'application/json' },
        body: chunks,
        duplex: 'half',
      }
      // The service responds and closes; a client that is still sending may see only the latter.
      const response = await checkedFetch(service.base_url + pathOf(route), init as RequestInit).catch(() => undefined)
      if (response) expect(response.status).toBe(413)
    })

    it.each([
      '[]',
      '"text"',
      '12',
      'null',
      '{"content":5,"email":["x"],"username":{"$ne":null},"user_id":5,"status":"asleep","title":5,"path":5,"display_name":5,"reason":5,"token":5,"seconds":"5","ttl_seconds":"5","role":5,"level":5,"inline":5,"all":5,"up_to":5,"url":5,"since":5,"day":5,"finish_reason":5,"activeStreamId":5,"input":5,"metadata":5}',
    ])('refuses the wrong shape: %s', async (body) => {
      const refused = await send(route, asAdmin(route), body)
      expect(refused).toMatchObject({ status: 422, code: 'validation_failed' })
      expect(refused.errors!.length).toBeGreaterThan(0)
    })
  })

  const all = [...new Set(allRoutes.map(([, route]) => route.path))]
  const paths = withoutRows(dialect, all).map((path) => ({ path }))
  it.each(paths)('$path answers other methods with 405 and the allowed methods', async ({ path }) => {
    const methods = allRoutes.flatMap(([, route]) => (route.path === path ? [route.method as string] : []))
    const allowed = [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].sort()
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
      if (methods.includes(method)) continue
      const refused = await send({ path, method: method as 'GET' }, admin)
      expect(refused, method).toMatchObject({ status: 405, code: 'method_not_allowed' })
      expect(refused.headers.get('allow')).toBe(allowed.join(', '))
    }
    const options = await send({ path, method: 'OPTIONS' as 'GET' }, {})
    expect(options.status).toBe(204)
    expect(options.headers.get('allow')).toBe(allowed.join(', '))
  })

  it.each(
    having(
      (route) =>
        !isByKey(route) &&
        route.query !== undefined &&
        'limit' in (route.query as unknown as { entries: object }).entries,
    ),
  )('$name accepts a valid limit only', async ({ name, route }) => {
    // A search requires a query.
    const search = { usersSearch: 'query=ada&', searchMessages: 'q=ada&' }[name] ?? ''
    for (const limit of ['0', '-1', '1.5', 'ten', '', '1e3', '9'.repeat(400)]) {
      const refused = await send({ ...route, path: `${route.path}?${search}limit=${limit}` }, admin)
      expect(refused, limit).toMatchObject({ status: 422, code: 'validation_failed' })
    }
    expect(await send({ ...route, path: `${route.path}?${search}limit=1&limit=2` }, admin)).toMatchObject({
      code: 'validation_failed',
    })
    expect(await send({ ...route, path: `${route.path}?${search}limit=100000` }, admin)).toMatchObject({ status: 200 })
    expect(await send({ ...route, path: `${route.path}?${search}unheard_of=1` }, admin)).toMatchObject({ status: 200 })
  })

  it.each([
    '/api',
    '/api/nothing',
    '/nothing',
    '/api/setup/more',
    '/api/%zz',
    '/%',
    '/api/conversations/a/b/c/d',
    '/v1',
    '/v1/nothing',
    '/v1/models/gpt-4/more',
    '/v1/%zz',
    '/v1beta/models',
  ])('answers the unknown path %s with 404', async (path) => {
    expect(await send({ method: 'GET', path }, {})).toMatchObject({ status: 404, code: 'not_found' })
    expect(await send({ method: 'POST', path }, {}, '{}')).toMatchObject({ status: 404, code: 'not_found' })
  })

  it('keeps a well-formed request id, and replaces any other', async () => {
    const idOf = async (id: string) =>
      (await send({ method: 'GET', path: '/api/setup' }, { 'x-request-id': id })).headers.get('x-request-id')
    expect(await idOf('trace-1234.5_6')).toBe('trace-1234.5_6')
    for (const bad of ['short', 'x'.repeat(65), 'with space 1234', 'ünïcödé-1'])
      expect(await idOf(`${encodeURIComponent(bad)}!`)).toMatch(/^[0-9a-f-]{36}$/)
  })

  it('returns nothing of an internal error, and logs it once', async () => {
    const errors: object[] = []
    const log = {
      debug() {},
      info() {},
      warn() {},
      error: (message: string, fields?: object) => void errors.push({ message, ...fields }),
    }
    const id = () => {
      throw new TypeError('secret detail')
    }
    const broken = await startService(await openUrl(), { ports: { id, log } })
    const response = await checkedFetch(`${broken.base_url}/api/setup`, {
      method: 'POST',
      headers: { 'x-request-id': 'known-request', 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'ada@example.org', password: PASSWORD }),
    })
    expect(response.status).toBe(500)
    expect(await response.text()).not.toContain('secret detail')
    expect(errors).toEqual([
      {
        message: 'Request failed',
        request_id: 'known-request',
        route: '/api/setup',
        cause: expect.stringContaining('secret detail'),
      },
    ])
    await broken.close()
  })
})
