import { request as httpRequest } from 'node:http'
import { beforeAll, describe, expect, it } from 'vitest'
import { describeService, setUpService } from '../support/describe-service.ts'
import { callMcp, type McpOptions, mcpBody, mcpHeaders, sendMcp } from '../support/mcp.ts'
import { startService } from '../support/service.ts'

const SUPPORTED = ['2026-07-28', '2025-11-25', '2025-06-18']
const TASKS = 'io.modelcontextprotocol/tasks'

const service = setUpService(() =>
  startService('sqlite::memory:', {
    config: {
      server: {
        cors: { allowed_origins: ['https://app.example.org'], token_origins: ['https://inspector.example.org'] },
      },
    },
  }),
)
let key: string
beforeAll(async () => {
  const ada = await service.signIn('ada')
  key = (await ada.keys.create({ name: 'agent' })).key
})

const post = (init: {
  method?: string
  headers?: Record<string, string | undefined>
  body?: string | Uint8Array<ArrayBuffer>
}) =>
  fetch(`${service.base_url}/mcp`, {
    method: init.method ?? 'POST',
    headers: mcpHeaders('tools/list', {}, { key, ...(init.headers && { headers: init.headers }) }),
    ...(init.method !== 'GET' && { body: init.body ?? JSON.stringify(mcpBody('tools/list')) }),
  })

describe('a request of MCP before it is read', () => {
  it.each(['GET', 'PUT', 'DELETE', 'PATCH'])('is refused with %s', async (method) => {
    const response = await post({ method })
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST'])
  })

  it.each<[status: number, code: string, headers: Record<string, string | undefined>]>([
    [403, 'forbidden', { origin: 'https://evil.example' }],
    [403, 'forbidden', { origin: 'null' }],
    [403, 'forbidden', { origin: 'https://evil.example', authorization: undefined }],
    [415, 'unsupported_media_type', { 'content-type': 'text/plain' }],
    [415, 'unsupported_media_type', { 'content-type': 'application/json-rpc' }],
    [406, 'not_acceptable', { accept: 'text/html' }],
    [406, 'not_acceptable', { accept: 'application/json;q=0, text/event-stream; q=0.0' }],
    [401, 'unauthenticated', { authorization: undefined }],
    [401, 'unauthenticated', { authorization: 'Bearer cs_nothing' }],
    [401, 'unauthenticated', { authorization: 'Basic YTpi' }],
  ])('is refused with %i %s: %o', async (status, code, headers) => {
    const response = await post({ headers })
    const { error, jsonrpc } = await response.json()
    expect([response.status, jsonrpc, error.code, error.data.code]).toEqual([status, '2.0', status, code])
    expect(error.data.request_id).toBe(response.headers.get('x-request-id'))
  })

  it.each([
    { origin: 'https://app.example.org' },
    { origin: 'https://inspector.example.org' },
    { accept: '*/*' },
    { accept: 'application/json' },
    { accept: undefined },
    { 'mcp-session-id': 'anything', 'last-event-id': '17' },
  ])('passes with %o', async (headers) => {
    expect((await post({ headers })).status).toBe(200)
  })

  it('is refused when it is larger than 512 KiB, whatever its length says', async () => {
    const body = JSON.stringify({ ...mcpBody('tools/list'), more: 'x'.repeat(512 * 1024) })
    expect((await post({ body })).status).toBe(413)
    const status = await new Promise((resolve, reject) => {
      const headers = Object.fromEntries(mcpHeaders('tools/list', {}, { key }))
      const sent = httpRequest(`${service.base_url}/mcp`, { method: 'POST', headers }, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
      sent.on('error', reject)
      sent.write(body.slice(0, 1000))
      sent.end(body.slice(1000))
    })
    expect(status).toBe(413)
  })

  it('tells a client without a token how to get one, and one with a wrong token that it is wrong', async () => {
    const header = async (authorization: string | undefined) =>
      (await post({ headers: { authorization } })).headers.get('www-authenticate')
    expect(await header(undefined)).toBe('Bearer')
    expect(await header('Bearer cs_nothing')).toBe('Bearer error="invalid_token"')
  })

  it('is not counted as a failed authentication without a token', async () => {
    const strict = await startService('sqlite::memory:', {
      config: { rate_limits: { auth_failures_per_ip_per_min: 2 } },
    })
    try {
      const status = async (authorization?: string) =>
        (await sendMcp(strict, 'tools/list', {}, { headers: { authorization } })).status
      for (let n = 0; n < 5; n++) expect(await status()).toBe(401)
      expect([await status('Bearer cs_a'), await status('Bearer cs_b'), await status('Bearer cs_c')]).toEqual([
        401, 401, 429,
      ])
    } finally {
      await strict.close()
    }
  })

  it('is a preflight for pages that may call, with the headers of the protocol', async () => {
    const preflight = async (origin: string) => {
      const headers = {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type,mcp-method,mcp-name,mcp-protocol-version',
      }
      const response = await fetch(`${service.base_url}/mcp`, { method: 'OPTIONS', headers })
      return [response.status, (response.headers.get('access-control-allow-headers') ?? '').toLowerCase()]
    }
    for (const origin of ['https://app.example.org', 'https://inspector.example.org']) {
      const [status, allowed] = await preflight(origin)
      expect(status).toBe(204)
      for (const name of ['authorization', 'mcp-protocol-version', 'mcp-method', 'mcp-name'])
        expect(allowed).toContain(name)
    }
    expect(await preflight('https://evil.example')).toEqual([204, ''])
    const exposed = (await post({ headers: { origin: 'https://inspector.example.org' } })).headers
    expect(exposed.get('access-control-expose-headers')).toContain('WWW-Authenticate')
  })
})

describe('the body of a request of MCP', () => {
  const REQUEST = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
  it.each<[code: number, body: string | Uint8Array<ArrayBuffer>]>([
    [-32700, ''],
    [-32700, '{'],
    [-32700, new Uint8Array([0x22, 0xff, 0x22])],
    [-32700, `${'['.repeat(40)}${']'.repeat(40)}`],
    [-32700, '{"jsonrpc":"2.0","id":1,"method":"ping","__proto__":{}}'],
    [-32600, '[]'],
    [-32600, JSON.stringify([mcpBody('tools/list')])],
    [-32600, 'null'],
    [-32600, '"text"'],
    [-32600, '{"jsonrpc":"2.0","id":1,"result":{}}'],
    [-32600, '{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}'],
    [-32600, JSON.stringify({ ...REQUEST, id: null })],
    [-32600, JSON.stringify({ ...REQUEST, id: 1.5 })],
    [-32600, JSON.stringify({ ...REQUEST, id: true })],
    [-32600, JSON.stringify({ ...REQUEST, id: {} })],
    [-32600, JSON.stringify({ ...REQUEST, jsonrpc: '1.0' })],
    [-32600, JSON.stringify({ ...REQUEST, method: 7 })],
    [-32600, JSON.stringify({ ...REQUEST, params: [] })],
    [-32600, JSON.stringify({ ...REQUEST, params: 'x' })],
  ])('is refused with 400 and %i: %s', async (code, body) => {
    const response = await post({ body })
    expect([response.status, (await response.json()).error.code]).toEqual([400, code])
  })

  it('is taken without an answer if it is a notification', async () => {
    const response = await post({ body: '{"jsonrpc":"2.0","method":"notifications/initialized"}' })
    expect([response.status, await response.text()]).toEqual([202, ''])
  })

  it.each(['text', '', 0, -7, 9007199254740991])('has an id that comes back as it is: %s', async (id) => {
    expect((await callMcp(service, 'tools/list', {}, { key, id })).id).toBe(id)
  })
})

describe('the revision of a request', () => {
  const CALL = { name: 'list_conversations', arguments: {} }
  type Case = [
    status: number,
    code: number | undefined,
    method: string,
    params: Record<string, unknown>,
    options: McpOptions,
  ]
  const VERSION = 'io.modelcontextprotocol/protocolVersion'
  const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'
  it.each<Case>([
    [400, -32020, 'tools/list', {}, { headers: { 'mcp-protocol-version': undefined } }],
    [400, -32020, 'tools/list', {}, { headers: { 'mcp-protocol-version': '2025-11-25' } }],
    [400, -32020, 'tools/list', {}, { headers: { 'mcp-method': undefined } }],
    [400, -32020, 'tools/list', {}, { headers: { 'mcp-method': 'tools/call' } }],
    [400, -32020, 'tools/call', CALL, { headers: { 'mcp-name': undefined } }],
    [400, -32020, 'tools/call', {}, { headers: { 'mcp-name': undefined } }],
    [400, -32020, 'tools/call', {}, { headers: { 'mcp-name': 'list_conversations' } }],
    [400, -32020, 'tools/call', CALL, { headers: { 'mcp-name': 'post_message' } }],
    [400, -32020, 'tools/call', CALL, { headers: { 'mcp-name': '=?base64?bm90?=' } }],
    [400, -32020, 'resources/read', { uri: 'chat://x' }, { headers: { 'mcp-name': undefined } }],
    [
      400,
      -32020,
      'tasks/get',
      { taskId: 'x' },
      { headers: { 'mcp-name': undefined }, capabilities: { extensions: { [TASKS]: {} } } },
    ],
    [200, undefined, 'tools/call', CALL, { headers: { 'mcp-name': '=?base64?bGlzdF9jb252ZXJzYXRpb25z?=' } }],
    [200, undefined, 'tools/list', {}, { headers: { 'mcp-method': '=?base64?dG9vbHMvbGlzdA==?=' } }],
    [400, -32602, 'tools/list', {}, { meta: { [VERSION]: undefined } }],
    [400, -32602, 'tools/list', {}, { meta: { [CAPABILITIES]: undefined } }],
    [400, -32602, 'tools/list', {}, { meta: { [CAPABILITIES]: [] } }],
    [
      400,
      -32022,
      'tools/list',
      {},
      { headers: { 'mcp-protocol-version': '2099-01-01' }, meta: { [VERSION]: '2099-01-01' } },
    ],
    [400, -32022, 'tools/list', {}, { legacy: '2024-11-05' }],
    [404, -32601, 'nothing/such', {}, {}],
    [404, -32601, 'initialize', {}, {}],
    [404, -32601, 'ping', {}, {}],
    [404, -32601, 'toString', {}, {}],
    [200, -32601, 'nothing/such', {}, { legacy: '2025-11-25' }],
    [200, -32601, 'server/discover', {}, { legacy: '2025-11-25' }],
    [200, -32601, 'constructor', {}, { legacy: '2025-06-18' }],
    [200, undefined, 'ping', {}, { legacy: '2025-11-25' }],
    [200, undefined, 'ping', {}, { legacy: '2025-06-18' }],
    [200, undefined, 'ping', {}, { legacy: '2025-06-18', headers: { 'mcp-protocol-version': undefined } }],
    [200, undefined, 'tools/list', {}, { legacy: '2025-11-25' }],
  ])('is judged: %i %s %s %o %o', async (status, code, method, params, options) => {
    const response = await sendMcp(service, method, params, { key, ...options })
    const { error, id } = await response.json()
    expect([response.status, error?.code, id]).toEqual([status, code, 1])
  })

  it('is named with those that are spoken', async () => {
    const { error } = await callMcp(service, 'tools/list', {}, { key, legacy: '1999-01-01' })
    expect(error.data).toEqual({ supported: SUPPORTED, requested: '1999-01-01' })
  })
})

describe('a client that begins', () => {
  it('discovers what there is', async () => {
    const { result } = await callMcp(service, 'server/discover', {}, { key })
    expect(result).toMatchObject({
      resultType: 'complete',
      supportedVersions: SUPPORTED,
      capabilities: { tools: {}, resources: { subscribe: true }, extensions: { [TASKS]: {} } },
      ttlMs: 300_000,
      cacheScope: 'private',
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'chat-server', version: expect.any(String) } },
    })
  })

  it.each([
    ['2025-11-25', '2025-11-25'],
    ['2025-06-18', '2025-06-18'],
    ['2024-11-05', '2025-11-25'],
    ['2026-07-28', '2025-11-25'],
  ])('agrees on a revision: for %s it gets %s', async (asked, agreed) => {
    const params = { protocolVersion: asked, capabilities: {}, clientInfo: { name: 'test', version: '1' } }
    const response = await sendMcp(service, 'initialize', params, {
      key,
      legacy: '2025-11-25',
      headers: { 'mcp-protocol-version': undefined },
    })
    const { result } = await response.json()
    expect(Object.keys(result).sort()).toEqual(['capabilities', 'instructions', 'protocolVersion', 'serverInfo'])
    expect(result).toMatchObject({ protocolVersion: agreed, capabilities: { tools: {}, resources: {} } })
    expect(response.headers.has('mcp-session-id')).toBe(false)
  })

  it('gets none of the newer fields in the older revisions', async () => {
    const { result } = await callMcp(service, 'tools/list', {}, { key, legacy: '2025-11-25' })
    expect(Object.keys(result)).toEqual(['tools'])
  })
})

describe('the endpoint', () => {
  it('is unknown when it is off, and /api/features has no URL of it', async () => {
    const off = await startService('sqlite::memory:', { config: { features: { mcp: false } } })
    try {
      expect((await sendMcp(off, 'tools/list')).status).toBe(404)
      expect((await off.client().capabilities.get()).mcp).toBeUndefined()
    } finally {
      await off.close()
    }
  })

  it('is named by /api/features', async () => {
    expect((await service.client().capabilities.get()).mcp).toEqual({ url: '/mcp' })
    const named = await startService('sqlite::memory:', {
      config: { server: { public_url: 'https://example.org/chat' } },
    })
    try {
      expect((await named.client().capabilities.get()).mcp).toEqual({ url: 'https://example.org/chat/mcp' })
    } finally {
      await named.close()
    }
  })
})

describeService('a random request of MCP', (each) => {
  it('never fails with 500', async () => {
    const ada = await each.signIn('ada')
    const { key } = await ada.keys.create({ name: 'agent' })
    let seed = 20_260_728
    const random = (below: number) => {
      seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
      return Math.floor((seed / 2 ** 32) * below)
    }
    const pick = <T>(items: readonly T[]): T => items[random(items.length)]!
    const TEXTS = [
      '',
      'x',
      '\u0000',
      '\ud800',
      'list_threads',
      'chat://conversations/x',
      '{}',
      '0'.repeat(300),
      '2026-07-28',
      'now',
    ]
    const value = (depth: number): unknown => {
      switch (random(depth > 0 ? 7 : 5)) {
        case 0:
          return null
        case 1:
          return pick([0, -1, 1.5, 2 ** 53, 1e308])
        case 2:
          return pick([true, false])
        case 5:
          return Array.from({ length: random(4) }, () => value(depth - 1))
        case 6:
          return Object.fromEntries(
            Array.from({ length: random(5) }, () => [
              pick([
                'name',
                'arguments',
                'uri',
                'cursor',
                '_meta',
                'limit',
                'after',
                'content',
                'notifications',
                'taskId',
                'query',
                'root_id',
              ]),
              value(depth - 1),
            ]),
          )
        default:
          return pick(TEXTS)
      }
    }
    const METHODS = [
      'tools/list',
      'tools/call',
      'resources/read',
      'resources/list',
      'server/discover',
      'initialize',
      'ping',
      'tasks/get',
      '',
      'x',
    ]
    const TOOLS = [
      'list_conversations',
      'list_threads',
      'read_thread',
      'search_messages',
      'find_users',
      'list_notifications',
      'post_message',
      'mark_read',
    ]
    for (let n = 0; n < 300; n++) {
      const method = pick(METHODS)
      const isCall = random(2) === 0
      const params = isCall ? { name: pick(TOOLS), arguments: value(3) } : value(3)
      const isObject = typeof params === 'object' && params !== null && !Array.isArray(params)
      const options = {
        key,
        ...(random(2) === 0 && { legacy: '2025-11-25' }),
        ...(random(4) === 0 && { id: value(1) }),
      }
      const body =
        isObject && random(4) > 0
          ? mcpBody(isCall ? 'tools/call' : method, params as Record<string, unknown>, options)
          : value(4)
      const response = await fetch(`${each.base_url}/mcp`, {
        method: 'POST',
        headers: mcpHeaders(
          isCall ? 'tools/call' : method,
          {},
          { ...options, headers: isCall ? { 'mcp-name': String((params as { name?: string }).name) } : {} },
        ),
        body: JSON.stringify(body),
      })
      const text = await response.text()
      expect([n, response.status < 500, text]).toEqual([n, true, expect.not.stringContaining('"code":"internal"')])
    }
  })
})
