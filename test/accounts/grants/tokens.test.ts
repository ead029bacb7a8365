import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { digest } from '../../../lib/core/ids.ts'
import { DAY, SECOND } from '../../../lib/core/units.ts'
import { type Mail, OPERATOR, type Storage } from '../../../lib/index.ts'
import { prune } from '../../../lib/ops/retention.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpNodes, setUpService, startNodes } from '../../support/describe-service.ts'
import { AGENT, addClient, allow, askTokens, connect, EXCHANGE, ISSUER, OAUTH, postForm } from '../../support/grants.ts'
import { callMcp, sendMcp } from '../../support/mcp.ts'
import { innerState, type Person, startService, startThread } from '../../support/service.ts'

const actorOf = ({ id }: Person) => ({ user_id: id, roles: ['member'] })
const REFRESH = { grant_type: 'refresh_token', client_id: AGENT.client_id }

describeOnEachDatabase('the tokens of an application', (openUrl) => {
  /** The clock of the services. */
  let ahead = 0
  const now = () => Date.now() * 1000 + ahead
  const mails: Mail[] = []
  const mail = (sent: Mail) => void mails.push(sent)
  const [service, node] = setUpNodes(async () => startNodes(await openUrl(), { config: OAUTH, ports: { now, mail } }))
  let ada: Person
  beforeAll(async () => {
    ada = await service.signIn('ada')
    await addClient(service)
    await addClient(service, { ...AGENT, client_id: 'https://other.example/client.json' })
  })

  const use = (key: string, on = service) => sendMcp(on, 'tools/call', LIST, { key })
  const refresh = (refresh_token: string, on = service) => askTokens(on, { ...REFRESH, refresh_token })
  const acts = async (act: 'grant.created' | 'grant.revoked' | 'grant.replayed') =>
    (await service.chat.audit.list(OPERATOR, { act })).entries.map(
      ({ subject_id, detail }): Record<string, unknown> => ({ subject_id, ...detail }),
    )

  it('are given for a code, and allow what the user has allowed, on /mcp alone', async () => {
    const tokens = await connect(service, ada, ['chat:read', 'chat:write'])
    expect(tokens).toEqual({
      status: 200,
      access_token: expect.stringMatching(/^co_[\w-]{43}$/),
      token_type: 'Bearer',
      expires_in: 3600,
      refresh_token: expect.stringMatching(/^cor_[\w-]{86}$/),
      scope: 'chat:read chat:write',
    })
    expect((await use(tokens.access_token, node)).status).toBe(200)
    for (const path of ['/api/auth/me', '/api/conversations', '/v1/models']) {
      const response = await fetch(service.base_url + path, {
        headers: { authorization: `Bearer ${tokens.access_token}` },
      })
      expect([path, response.status]).toEqual([path, path === '/v1/models' ? 200 : 401])
    }
    // A refresh token is no bearer.
    expect((await use(tokens.refresh_token)).status).toBe(401)
    const { grants } = await ada.grants.list()
    expect(grants[0]).toMatchObject({
      client_id: AGENT.client_id,
      client_name: 'Agent',
      client_host: 'agent.example',
      scopes: ['chat:read', 'chat:write'],
    })
    expect((await acts('grant.created'))[0]).toMatchObject({ subject_id: grants[0]!.id, client_id: AGENT.client_id })
  })

  it('are stored as digests, and are no keys of the user', async () => {
    const { access_token, refresh_token } = await connect(service, ada)
    const { db } = innerState(service)
    const stored = JSON.stringify([await db.all(sql`SELECT * FROM api_keys`), await db.all(sql`SELECT * FROM grants`)])
    expect(stored).toContain(digest(access_token))
    for (const secret of [access_token, refresh_token]) expect(stored).not.toContain(secret)
    expect((await ada.keys.list()).keys).toEqual([])
    const row = await db.get<{ id: string }>(sql`SELECT id FROM api_keys WHERE key_hash = ${digest(access_token)}`)
    await expect(ada.keys.revoke(row!.id)).rejects.toMatchObject({ code: 'not_found' })
    await expect(service.chat.keys.revokeAny(OPERATOR, row!.id)).resolves.toBeUndefined()
    expect((await use(access_token)).status).toBe(200)
  })

  it('lack a scope: the response says which, and where to get more', async () => {
    const { access_token } = await connect(service, ada)
    const { root } = await startThread(service)
    const args = { name: 'post_message', arguments: { parent_id: root.message_id, content: 'x' } }
    const response = await sendMcp(service, 'tools/call', args, { key: access_token })
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([
      403,
      `Bearer error="insufficient_scope", scope="chat:write", resource_metadata="${ISSUER}/.well-known/oauth-protected-resource/mcp"`,
    ])
  })

  it('expire: the call says so, and is no failed sign-in of its address', async () => {
    const { access_token, refresh_token } = await connect(service, ada)
    ahead += 3601 * SECOND
    for (let call = 0; call < 50; call++) {
      const response = await use(call % 2 === 0 ? access_token : 'co_of-another-time')
      expect([response.status, response.headers.get('www-authenticate')]).toEqual([
        401,
        `Bearer error="invalid_token", scope="chat:read", resource_metadata="${ISSUER}/.well-known/oauth-protected-resource/mcp"`,
      ])
    }
    const next = await refresh(refresh_token, node)
    expect(next.status).toBe(200)
    expect((await use(next.access_token)).status).toBe(200)
    ahead = 0
  })

  it('are replaced by processes of a client at once, each of which goes on', async () => {
    const { refresh_token } = await connect(service, ada)
    const pairs = await Promise.all(Array.from({ length: 8 }, (_, n) => refresh(refresh_token, n % 2 ? service : node)))
    expect(pairs.map(({ status }) => status)).toEqual(pairs.map(() => 200))
    expect(new Set(pairs.map((pair) => pair.refresh_token)).size).toBe(8)
    ahead += 3000 * SECOND
    for (const pair of pairs) expect((await refresh(pair.refresh_token)).status).toBe(200)
    ahead = 0
  })

  it('end with their grant when a replaced one comes back later: everywhere, with mail and an entry', async () => {
    const { refresh_token } = await connect(service, ada)
    const { id } = (await ada.grants.list()).grants[0]!
    const next = await refresh(refresh_token)
    ahead += 121 * SECOND
    expect(await refresh(refresh_token)).toMatchObject({ status: 400, error: 'invalid_grant' })
    ahead = 0
    expect((await ada.grants.list()).grants.map((grant) => grant.id)).not.toContain(id)
    await vi.waitUntil(async () => (await use(next.access_token, node)).status === 401, { timeout: 30_000 })
    expect((await refresh(next.refresh_token)).status).toBe(400)
    expect((await acts('grant.replayed'))[0]).toMatchObject({ subject_id: id, user_id: ada.id })
    await vi.waitUntil(() => mails.some(({ kind }) => kind === 'grant_replayed'), { timeout: 30_000 })
    expect(mails.find(({ kind }) => kind === 'grant_created')!.text).toContain('agent.example')
  })

  it('are given once for a code, and a second use ends them', async () => {
    const { code, code_verifier } = await allow(service, ada)
    const form = { ...EXCHANGE, code, code_verifier }
    const wrong: Record<string, string>[] = [
      { code: `${code.slice(0, -1)}${code.endsWith('A') ? 'B' : 'A'}` },
      { code_verifier: 'a'.repeat(43) },
      { code_verifier: 'short' },
      { redirect_uri: `${EXCHANGE.redirect_uri}/` },
      { client_id: 'https://other.example/client.json' },
    ]
    for (const change of wrong)
      expect(await askTokens(service, { ...form, ...change })).toMatchObject({ status: 400, error: 'invalid_grant' })
    const tokens = await Promise.all([askTokens(service, form), askTokens(node, form)])
    // Two at once are two uses, too: nothing is left.
    expect(tokens.map(({ status }) => status).sort()).toEqual([200, 400])
    const { access_token } = tokens.find(({ status }) => status === 200)!
    await vi.waitUntil(async () => (await use(access_token)).status === 401, { timeout: 30_000 })
    expect((await acts('grant.revoked'))[0]).toMatchObject({ reason: 'code', user_id: ada.id })
  })

  it('are given for a code for a minute', async () => {
    const { code, code_verifier } = await allow(service, ada)
    ahead += 61 * SECOND
    expect(await askTokens(service, { ...EXCHANGE, code, code_verifier })).toMatchObject({ error: 'invalid_grant' })
    const before = (await ada.grants.list()).grants.length
    expect((await prune(innerState(service))).grant_codes).toBeGreaterThan(0)
    ahead = 0
    expect((await ada.grants.list()).grants).toHaveLength(before)
  })

  it('are refused for what is wrong with a request, in the form of OAuth', async () => {
    const { code, code_verifier } = await allow(service, ada)
    const form = { ...EXCHANGE, code, code_verifier }
    const of = async (fields: Record<string, string>) => {
      const { status, error } = await askTokens(service, fields)
      return [status, error]
    }
    expect(await of({ ...form, grant_type: 'password' })).toEqual([400, 'unsupported_grant_type'])
    expect(await of({ ...form, grant_type: '' })).toEqual([400, 'invalid_request'])
    expect(await of({ ...form, code: '' })).toEqual([400, 'invalid_request'])
    expect(await of({ ...form, client_id: 'https://nobody.example/client.json' })).toEqual([401, 'invalid_client'])
    expect(await of({ ...form, resource: `${ISSUER}/api` })).toEqual([400, 'invalid_target'])
    expect(await of({ ...REFRESH })).toEqual([400, 'invalid_request'])
    expect(await of({ ...REFRESH, refresh_token: 'cor_x' })).toEqual([400, 'invalid_grant'])
    const twice = await postForm(service, '/oauth/token', `${new URLSearchParams(form)}&code=${code}`)
    expect([twice.status, (await twice.json()).error]).toEqual([400, 'invalid_request'])
    const json = await fetch(`${service.base_url}/oauth/token`, { method: 'POST', body: '{}' })
    expect([json.status, (await json.json()).error]).toEqual([415, 'invalid_request'])
    const large = await postForm(service, '/oauth/token', { ...form, state: 'x'.repeat(20_000) })
    expect([large.status, (await large.json()).error]).toEqual([413, 'invalid_request'])
    const get = await fetch(`${service.base_url}/oauth/token`)
    expect([get.status, get.headers.get('allow')]).toEqual([405, 'OPTIONS, POST'])
    // None of this used the code up.
    const tokens = await askTokens(service, { ...form, resource: `${ISSUER}/mcp` })
    expect(tokens.status).toBe(200)
  })

  it('may be asked for by a page of any origin, without a cookie, and are kept by no cache', async () => {
    const preflight = await fetch(`${service.base_url}/oauth/token`, { method: 'OPTIONS' })
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, '*'])
    const response = await postForm(service, '/oauth/token', {})
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    expect(response.headers.get('access-control-allow-credentials')).toBeNull()
    expect(response.headers.get('cache-control')).toBe('no-store')
  })

  it('end when the client revokes them: an access token alone, or with a refresh token all', async () => {
    const revoke = async (token: string, client_id = AGENT.client_id) =>
      (await postForm(service, '/oauth/revoke', { token, client_id })).status
    const { access_token, refresh_token } = await connect(service, ada)
    const count = (await ada.grants.list()).grants.length
    expect(await revoke(access_token, 'https://other.example/client.json')).toBe(200)
    expect((await use(access_token)).status).toBe(200)
    expect(await revoke(access_token)).toBe(200)
    expect((await use(access_token)).status).toBe(401)
    const next = await refresh(refresh_token)
    expect(await revoke(next.refresh_token)).toBe(200)
    expect(await revoke(next.refresh_token)).toBe(200)
    expect((await use(next.access_token)).status).toBe(401)
    expect((await ada.grants.list()).grants).toHaveLength(count - 1)
    expect(await revoke('x', 'https://nobody.example/client.json')).toBe(401)
  })

  it('end on every node, with what waits for them, when the user disconnects the application', async () => {
    const { access_token, refresh_token } = await connect(service, ada)
    const { id } = (await ada.grants.list()).grants[0]!
    const { result } = await callMcp(node, 'tools/call', LIST, { key: access_token })
    const after = result.structuredContent.after ?? 'now'
    const wait = { name: 'wait_for_messages', arguments: { after, seconds: 55 } }
    const waiting = callMcp(node, 'tools/call', wait, { key: access_token })
    await vi.waitUntil(() => innerState(node).streams.hub.size() > 0, { timeout: 30_000 })
    await ada.grants.revoke(id)
    const ended = await waiting
    expect(JSON.stringify(ended)).toMatch(/unauthenticated|session|"messages":\[\]/)
    expect((await use(access_token, node)).status).toBe(401)
    expect(await refresh(refresh_token)).toMatchObject({ error: 'invalid_grant' })
    await expect(ada.grants.revoke(id)).rejects.toMatchObject({ code: 'not_found' })
  })

  it('are refused while the user is disabled, and then go on', async () => {
    const grace = await service.signIn('grace')
    const { access_token, refresh_token } = await connect(service, grace)
    await service.chat.users.change(OPERATOR, grace.id, { disabled: true })
    expect((await use(access_token)).status).toBe(401)
    expect(await refresh(refresh_token)).toMatchObject({ error: 'invalid_grant' })
    await service.chat.users.change(OPERATOR, grace.id, { disabled: false })
    expect((await use(access_token)).status).toBe(200)
    expect((await refresh(refresh_token)).status).toBe(200)
  })

  it('end after a month without use, and after a year', async () => {
    const joan = await service.signIn('joan')
    const idle = await connect(service, joan)
    let used = await connect(service, joan)
    for (let day = 0; day < 360; day += 29) {
      ahead = day * DAY
      used = await refresh(used.refresh_token)
      expect([day, used.status]).toEqual([day, 200])
    }
    expect(await refresh(idle.refresh_token)).toMatchObject({ error: 'invalid_grant' })
    ahead = 364.99 * DAY
    used = await refresh(used.refresh_token)
    // No token outlives what it is for.
    expect(Number(used.expires_in)).toBeLessThan(1000)
    ahead = 365.1 * DAY
    expect(await refresh(used.refresh_token)).toMatchObject({ error: 'invalid_grant' })
    expect(await prune(innerState(service))).toMatchObject({
      grants: expect.any(Number),
      old_grants: expect.any(Number),
    })
    expect((await service.chat.grants.listAll(OPERATOR, { user_id: joan.id })).grants).toEqual([])
    ahead = 0
  })

  it('are few: of 51 grants the least used ends, and a grant has at most 32 tokens', async () => {
    const kay = await service.signIn('kay')
    const first = await connect(service, kay)
    const second = await connect(service, kay)
    for (let n = 2; n < 50; n++) await connect(service, kay)
    ahead += 60 * SECOND
    let last = await refresh(first.refresh_token)
    for (let n = 0; n < 40; n++) {
      ahead += 130 * SECOND
      last = await refresh(last.refresh_token)
    }
    const { db } = innerState(service)
    const mine = sql`user_id = ${kay.id} AND grant_id IS NOT NULL GROUP BY grant_id ORDER BY n DESC LIMIT 1`
    expect((await db.get<{ n: number }>(sql`SELECT count(*) AS n FROM api_keys WHERE ${mine}`))!.n).toBe(32)
    await allow(service, kay)
    ahead = 0
    expect((await db.get<{ n: number }>(sql`SELECT count(*) AS n FROM grants WHERE user_id = ${kay.id}`))!.n).toBe(50)
    expect((await refresh(last.refresh_token)).status).toBe(200)
    expect(await refresh(second.refresh_token)).toMatchObject({ error: 'invalid_grant' })
    expect((await acts('grant.revoked')).map(({ reason }) => reason)).toContain('limit')
    // Codes that nothing came of go before what is in use.
    for (let n = 0; n < 60; n++) await allow(service, kay)
    expect((await kay.grants.list()).grants).toHaveLength(49)
  })

  it('are asked for by a client that is used, not by one that only asks', async () => {
    const { db } = innerState(service)
    const used = async () =>
      (await db.get<{ at: number }>(sql`SELECT last_used_at AS at FROM oauth_clients WHERE id = ${AGENT.client_id}`))!
        .at
    const before = await used()
    ahead = 400 * DAY
    await refresh(`cor_${'a'.repeat(86)}`)
    expect(await used()).toBe(before)
    const lou = await service.signIn('lou')
    await connect(service, lou)
    expect(await used()).toBeGreaterThan(before)
    ahead = 0
  })

  it('are listed and ended by the operator, and by no other user', async () => {
    const joe = await service.signIn('joe')
    await connect(service, joe)
    const { grants } = await service.chat.grants.listAll(OPERATOR, { user_id: joe.id, limit: 1 })
    expect(grants).toMatchObject([{ user_id: joe.id, client_name: 'Agent' }])
    const eve = await service.signIn('eve')
    await expect(eve.grants.revoke(grants[0]!.id)).rejects.toMatchObject({ code: 'not_found' })
    await expect(service.chat.grants.listAll(actorOf(eve), {})).rejects.toMatchObject({ code: 'forbidden' })
    await expect(service.chat.grants.revokeAny(actorOf(eve), grants[0]!.id)).rejects.toMatchObject({
      code: 'forbidden',
    })
    await service.chat.grants.revokeAny(OPERATOR, grants[0]!.id)
    await service.chat.grants.revokeAny(OPERATOR, grants[0]!.id)
    expect((await joe.grants.list()).grants).toEqual([])
  })
})

const LIST = { name: 'list_conversations', arguments: {} }

describe('the documents of an authorization server', () => {
  const service = setUpService(() =>
    startService('sqlite::memory:', { config: { ...OAUTH, server: { public_url: 'https://host.example/chat' } } }),
  )

  it('are at the paths where clients look, for pages of any origin', async () => {
    const at = async (path: string) => {
      const response = await fetch(service.base_url + path)
      expect([path, response.status, response.headers.get('access-control-allow-origin')]).toEqual([path, 200, '*'])
      return response.json()
    }
    const resource = await at('/chat/.well-known/oauth-protected-resource/mcp')
    expect(resource).toEqual({
      resource: 'https://host.example/chat/mcp',
      authorization_servers: ['https://host.example/chat'],
      scopes_supported: ['chat:read'],
      bearer_methods_supported: ['header'],
    })
    const paths = ['/.well-known/oauth-protected-resource/chat/mcp', '/.well-known/oauth-protected-resource/chat']
    for (const path of paths) expect(await at(path)).toEqual(resource)
    const server = await at('/.well-known/oauth-authorization-server/chat')
    expect(server).toMatchObject({
      issuer: 'https://host.example/chat',
      authorization_endpoint: 'https://host.example/chat/oauth/authorize',
      token_endpoint: 'https://host.example/chat/oauth/token',
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none', 'private_key_jwt'],
      client_id_metadata_document_supported: true,
      authorization_response_iss_parameter_supported: true,
    })
    expect(server).not.toHaveProperty('registration_endpoint')
    expect(await at('/chat/.well-known/oauth-authorization-server')).toEqual(server)
  })
})

describeOnEachDatabase('a code that another process has just made', (openUrl) => {
  it('gives tokens, whatever older state the other reads see', async () => {
    const wrap = (storage: Storage): Storage => ({
      ...storage,
      db: { ...storage.db, get: async (query) => (/FROM grants/.test(query.text) ? undefined : storage.db.get(query)) },
    })
    const service = await startService(await openUrl(), { config: OAUTH, wrap })
    onTestFinished(() => service.close())
    const ada = await service.signIn('ada')
    await addClient(service)
    expect((await connect(service, ada, ['chat:read'])).status).toBe(200)
  })
})
