import { beforeAll, describe, expect, it, vi } from 'vitest'
import type { IdentityRequest } from '../../lib/index.ts'
import { OPERATOR } from '../../lib/index.ts'
import { describeService, setUpService } from '../support/describe-service.ts'
import { callMcp, type McpOptions, mcpBody, mcpHeaders, sendMcp } from '../support/mcp.ts'
import { PASSWORD, startService, startThread, type TestService } from '../support/service.ts'

/** Whether a bearer may read and post, and what the response to one that may not says. */
async function outcomes(service: TestService, parent_id: string, options: McpOptions) {
  const challenges: string[] = []
  const call = async (name: string, args: object) => {
    const response = await sendMcp(service, 'tools/call', { name, arguments: args }, options)
    const challenge = response.headers.get('www-authenticate')
    if (challenge !== null) challenges.push(challenge)
    const { result } = await response.json()
    return response.status === 200 ? (result.isError ? JSON.parse(result.content[0].text).code : 'ok') : response.status
  }
  const read = await call('list_conversations', {})
  const write = await call('post_message', { parent_id, content: 'x' })
  return { read, write, challenges: [...new Set(challenges)] }
}

const NEEDS_WRITE = 'Bearer error="insufficient_scope", scope="chat:write"'
const NEEDS_READ = 'Bearer error="insufficient_scope", scope="chat:read"'

describeService('the callers of MCP', { config: { guests: { enabled: true, contacts: ['ada'] } } }, (service) => {
  let here: Awaited<ReturnType<typeof startThread>>
  beforeAll(async () => {
    here = await startThread(service)
  })

  const may = (key: string, headers?: Record<string, string>) =>
    outcomes(service, here.root.message_id, { key, ...(headers && { headers }) })

  it('may be by a key, which has all scopes', async () => {
    expect(await may((await here.grace.keys.create({ name: 'agent' })).key)).toEqual({
      read: 'ok',
      write: 'ok',
      challenges: [],
    })
  })

  it('may be by a token, within its scopes', async () => {
    const token = async (scopes: ('read' | 'write' | 'stream')[]) => (await here.grace.tokens.issue({ scopes })).token
    expect(await may(await token(['write']))).toEqual({ read: 'ok', write: 'ok', challenges: [] })
    expect(await may(await token(['read']))).toEqual({ read: 'ok', write: 403, challenges: [NEEDS_WRITE] })
    expect(await may(await token(['stream']))).toEqual({ read: 403, write: 403, challenges: [NEEDS_READ, NEEDS_WRITE] })
  })

  it('see the tools of their rights, whatever their token allows', async () => {
    const { token } = await here.grace.tokens.issue({ scopes: ['read'] })
    const { result } = await callMcp(service, 'tools/list', {}, { key: token })
    expect(result.tools.map(({ name }: { name: string }) => name)).toContain('post_message')
  })

  it('may be a guest, by its token', async () => {
    const response = await fetch(`${service.base_url}/api/guests`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token: true }),
    })
    const { token } = await response.json()
    expect(await may(token)).toEqual({ read: 'ok', write: 'not_found', challenges: [] })
    const { result } = await callMcp(service, 'tools/list', {}, { key: token })
    expect(result.tools.map(({ name }: { name: string }) => name)).not.toContain('find_users')
  })

  it('may be a bot, whose calls show that it runs', async () => {
    const { bot } = await here.ada.bots.create({ username: 'robot' })
    await here.ada.participants.add(here.conversation_id, { user_id: bot.id })
    const { key } = await here.ada.bots.createKey(bot.id, { name: 'agent' })
    expect(await may(key)).toEqual({ read: 'ok', write: 'ok', challenges: [] })
    await service.idle()
    const status = async () => (await here.ada.presence.list({ user_ids: bot.id })).presence[0]!.status
    await vi.waitUntil(async () => (await status()) === 'online', { timeout: 30_000 })
  })

  it('may be a server that acts for a person, and no server that acts for none', async () => {
    const { key } = await service.chat.serverKeys.create(OPERATOR, { name: 'server', scopes: ['act_as', 'system'] })
    expect(await may(key, { 'chat-act-as': `user:${here.grace.id}` })).toEqual({
      read: 'ok',
      write: 'ok',
      challenges: [],
    })
    expect(await may(key, { 'chat-act-as': 'user:01980a3c-9000-7a10-8b20-0c4f1d2e3a45' })).toMatchObject({ read: 404 })
    expect(await may(key)).toMatchObject({ read: 403 })
  })

  it('are none by the session of a browser', async () => {
    const login = await fetch(`${service.base_url}/api/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: here.grace.email, password: PASSWORD }),
    })
    const cookie = login.headers
      .getSetCookie()
      .map((line) => line.split(';')[0])
      .join('; ')
    expect((await sendMcp(service, 'tools/list', {}, { headers: { cookie } })).status).toBe(401)
  })

  it('lose their access with their key', async () => {
    const { key, id } = await here.grace.keys.create({ name: 'short' })
    expect((await sendMcp(service, 'tools/list', {}, { key })).status).toBe(200)
    await here.grace.keys.revoke(id)
    const response = await sendMcp(service, 'tools/list', {}, { key })
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer error="invalid_token"'])
  })

  it('count against the limit of the endpoint, whose headers they get', async () => {
    const { key } = await here.eve.keys.create({ name: 'agent' })
    const { id } = await here.ada.limits.createProfile({
      name: 'mcp',
      params: { requests_per_second: 0.001, burst: 1 },
    })
    const assigned = await here.ada.limits.createAssignment({ profile_id: id, method: 'POST', path: '/mcp' })
    try {
      const first = await sendMcp(service, 'tools/list', {}, { key })
      expect([first.status, first.headers.get('x-ratelimit-profile')]).toEqual([200, 'mcp'])
      const second = await sendMcp(service, 'tools/list', {}, { key })
      const { error } = await second.json()
      expect([second.status, error.code, error.data.code]).toEqual([429, 429, 'rate_limited'])
      expect(second.headers.get('retry-after')).toBe(String(error.data.retry_after))
    } finally {
      await here.ada.limits.deleteAssignment(assigned.id)
    }
  })

  it('may be what the application says, which calls the endpoint itself', async () => {
    const actor = await service.chat.users.actor(here.grace.id)
    const request = (init: RequestInit = {}) =>
      new Request('http://localhost/agents', {
        method: 'POST',
        headers: mcpHeaders('tools/list'),
        body: JSON.stringify(mcpBody('tools/list')),
        ...init,
      })
    const response = await service.chat.mcp.handle(request(), actor)
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json'])
    expect((await response.json()).result.tools.length).toBeGreaterThan(5)
    const status = async (init: RequestInit) => (await service.chat.mcp.handle(request(init), actor)).status
    expect(await status({ body: '{' })).toBe(400)
    expect(await status({ body: ' '.repeat(600_000) })).toBe(413)
    expect(await status({ headers: { 'content-type': 'text/plain' } })).toBe(415)
    expect(await status({ body: '{"jsonrpc":"2.0","method":"notifications/initialized"}' })).toBe(202)
    const get = await service.chat.mcp.handle(new Request('http://localhost/agents'), actor)
    expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST'])
    const reads = await service.chat.mcp.handle(
      request({
        headers: mcpHeaders('tools/call', { name: 'post_message' }),
        body: JSON.stringify(mcpBody('tools/call', { name: 'post_message', arguments: {} })),
      }),
      { ...actor, mcp_scopes: ['chat:read'] },
    )
    expect(reads.status).toBe(403)
  })
})

describe('the login of a host', () => {
  const seen: IdentityRequest[] = []
  const service = setUpService(() =>
    startService('sqlite::memory:', {
      config: { server: { public_url: 'https://example.org/chat' } },
      ports: {
        identity(request) {
          seen.push(request)
          const [, subject, scopes] = /^Bearer host-(\w+) ?(.*)$/.exec(request.headers.get('authorization') ?? '') ?? []
          if (!subject) return undefined
          return { subject, username: subject, ...(scopes !== '' && { scopes: JSON.parse(scopes!) }) }
        },
      },
    }),
  )

  it('is asked with the audience, and says what its token allows', async () => {
    const { user: ada } = await service.chat.users.ensure(OPERATOR, { subject: 'ada', username: 'ada' })
    const actor = await service.chat.users.actor(ada.id)
    const { conversation_id } = await service.chat.conversations.create(actor)
    const { message_id } = await service.chat.messages.postRoot(actor, conversation_id, { content: 'first' })
    const may = (key: string) => outcomes(service, message_id, { key })
    expect(await may('host-ada')).toEqual({ read: 'ok', write: 'ok', challenges: [] })
    expect(seen.at(-1)?.audience).toBe('https://example.org/chat/mcp')
    expect(await may('host-ada ["chat:read","openid"]')).toEqual({ read: 'ok', write: 403, challenges: [NEEDS_WRITE] })
    expect(await may('host-ada ["chat:write"]')).toEqual({ read: 'ok', write: 'ok', challenges: [] })
    expect(await may('host-ada ["chat:ask"]')).toEqual({ read: 'ok', write: 403, challenges: [NEEDS_WRITE] })
    expect(await may('host-ada []')).toMatchObject({ read: 403, write: 403 })
    expect(await may('host-ada "chat:write"')).toMatchObject({ read: 403, write: 403 })
    expect(await may('nothing')).toMatchObject({ read: 401 })
  })

  it('is asked without an audience elsewhere, where scopes change nothing', async () => {
    const headers = { authorization: 'Bearer host-ada ["chat:read"]', 'content-type': 'application/json' }
    const response = await fetch(`${service.base_url}/api/conversations`, { method: 'POST', headers, body: '{}' })
    expect([response.status, seen.at(-1)?.audience]).toEqual([201, undefined])
  })
})
