import { SignJWT } from 'jose'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createAdminClient } from '../../../lib/client/admin.ts'
import { SECOND } from '../../../lib/core/units.ts'
import { type Identity, OPERATOR } from '../../../lib/index.ts'
import { checkedFetch } from '../../support/answers.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpNodes, startNodes } from '../../support/describe-service.ts'
import { filesInFolder } from '../../support/files-folder.ts'
import { codeOf, PASSWORD, type Person, startService } from '../../support/service.ts'
import { openStream } from '../../support/stream.ts'

const SECRET = 'a secret of at least thirty-two bytes'
const JWT = { issuer: 'https://shop.example.org', audience: 'chat', secret: SECRET }

/** The clock of the services: it runs on from here. */
let ahead = 0
const now = () => Date.now() * 1000 + ahead

function sign(sub: string, seconds: number): Promise<string> {
  const iat = Math.floor(now() / SECOND)
  const claims = { iss: JWT.issuer, aud: JWT.audience, sub, iat, exp: iat + seconds }
  return new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(new TextEncoder().encode(SECRET))
}

describeOnEachDatabase('tokens that the service issues', (openUrl) => {
  const lines: string[] = []
  const note = (message: string, fields?: object) => void lines.push(`${message} ${JSON.stringify(fields)}`)
  const log = { debug: note, info: note, warn: note, error: note }
  const [service, node] = setUpNodes(async () =>
    startNodes(await openUrl(), {
      config: { auth: { jwt: JWT }, log: { requests: 'all' }, attachments: await filesInFolder() },
      ports: { now, log },
    }),
  )
  const as = (token: string, { base_url } = service) =>
    createAdminClient({ base_url, api_key: token, fetch: checkedFetch, retry_ms: 10 })
  const ticketOf = (token: string) => `?ticket=${encodeURIComponent(token)}`
  /** On SQLite the reads of a turn of the event loop see one state. */
  const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))

  beforeAll(async () => {
    await service.signIn('founder')
  })

  /** A person with a token that reads and writes, a ticket, and a conversation. */
  async function person(name: string) {
    const maker = await service.signIn(name)
    const { conversation_id } = await maker.conversations.create({})
    const { token } = await maker.tokens.issue({})
    const { token: ticket } = await maker.tokens.issue({ scopes: ['stream'] })
    return { maker, conversation_id, token, ticket }
  }

  it('act as their user on every node, without a cookie and a CSRF token', async () => {
    const { maker, conversation_id, token } = await person('ada')
    for (const at of [service, node]) expect((await as(token, at).auth.me()).user.id).toBe(maker.id)
    expect((await as(token).auth.me()).session).toBeUndefined()
    const { message_id } = await as(token).messages.postRoot(conversation_id, { content: 'hello' })
    expect((await maker.messages.get(message_id)).author_user_id).toBe(maker.id)
  })

  it('allow what their scopes say', async () => {
    const { maker, conversation_id, ticket } = await person('scoped')
    const read = as((await maker.tokens.issue({ scopes: ['read'] })).token)
    await read.conversations.get(conversation_id)
    const refused = { code: 'forbidden', reason: 'scope' }
    await expect(read.messages.postRoot(conversation_id, { content: 'no' })).rejects.toMatchObject(refused)
    await expect(as(ticket).auth.me()).rejects.toMatchObject(refused)
    const stream = await openStream(service.base_url, undefined, { authorization: `Bearer ${ticket}` })
    await stream.until('stream.ready')
    await stream.close()
  })

  it('do nothing that an API key may not do', async () => {
    const { token } = await person('careful')
    const client = as(token)
    const calls = [
      () => client.keys.create({ name: 'another' }),
      () => client.keys.list(),
      () => client.auth.listSessions(),
      () => client.auth.changePassword({ current_password: PASSWORD, new_password: 'another horse battery' }),
      () => client.emails.requestChange({ email: 'thief@example.org' }),
      () => client.auth.logout(),
    ]
    for (const call of calls) expect(await codeOf(call())).toBe('forbidden')
  })

  it('make tickets, and so do API keys, and nothing that lives on', async () => {
    const { maker, token, ticket } = await person('chained')
    const { key } = await maker.keys.create({ name: 'program' })
    for (const [proof, reason] of [
      [token, 'scope'],
      [key, 'key'],
    ] as const) {
      const refused = { code: 'forbidden', reason }
      await expect(as(proof).tokens.issue({})).rejects.toMatchObject(refused)
      await expect(as(proof).tokens.issue({ scopes: ['stream', 'read'] })).rejects.toMatchObject(refused)
      const made = await as(proof).tokens.issue({ scopes: ['stream'] })
      const stream = await openStream(node.base_url, undefined, { search: ticketOf(made.token) })
      await stream.until('stream.ready')
      await stream.close()
    }
    expect(await codeOf(as(ticket).tokens.issue({ scopes: ['stream'] }))).toBe('forbidden')
  })

  it('take a life within bounds', async () => {
    const { maker } = await person('bounded')
    for (const ttl_seconds of [59, 86_401, 60.5, '60' as unknown as number])
      expect(await codeOf(maker.tokens.issue({ ttl_seconds }))).toBe('validation_failed')
    expect(await codeOf(maker.tokens.issue({ ttl_seconds: 301, scopes: ['stream'] }))).toBe('validation_failed')
    for (const scopes of [[], ['admin'], 'read'])
      expect(await codeOf(maker.tokens.issue({ scopes: scopes as never }))).toBe('validation_failed')
    const lifeOf = async (input: object) =>
      Math.round((Date.parse((await maker.tokens.issue(input)).expires_at) * 1000 - now()) / SECOND)
    expect(await lifeOf({})).toBeLessThanOrEqual(3600)
    expect(await lifeOf({ scopes: ['stream'] })).toBeLessThanOrEqual(300)
  })

  it('open the streams as a ticket in the URL, which go on after it, and nothing else', async () => {
    const { maker, conversation_id, token, ticket } = await person('viewer')
    const streams = [
      await openStream(service.base_url, conversation_id, { search: ticketOf(ticket) }),
      await openStream(node.base_url, undefined, { search: ticketOf(ticket) }),
    ]
    for (const stream of streams) await stream.until('stream.ready')
    const url = `${service.base_url}/api/conversations/${conversation_id}`
    expect((await fetch(url + ticketOf(ticket))).status).toBe(401)
    for (const wrong of [token, '', 'x', `${ticket}x`, 'ct_a.b', 'x'.repeat(700)])
      expect((await fetch(`${service.base_url}/api/stream${ticketOf(wrong)}`)).status, wrong).toBe(401)
    ahead += 301 * SECOND
    expect((await fetch(`${service.base_url}/api/stream${ticketOf(ticket)}`)).status).toBe(401)
    expect(await codeOf(as(ticket).auth.me())).toBe('session_expired')
    await maker.messages.postRoot(conversation_id, { content: 'still here' })
    for (const stream of streams) {
      await stream.until('message.new')
      await stream.close()
    }
  })

  it('end their streams when they expire', async () => {
    const { maker } = await person('late')
    const { token } = await maker.tokens.issue({ ttl_seconds: 60 })
    const stream = await openStream(service.base_url, undefined, { authorization: `Bearer ${token}` })
    await stream.until('stream.ready')
    ahead += 61 * SECOND
    expect((await stream.until('stream.closed')).at(-1)!.event.payload).toEqual({ reason: 'session_ended' })
    expect(await codeOf(as(token).auth.me())).toBe('session_expired')
  })

  const ENDS: [string, (maker: Person) => Promise<unknown>][] = [
    ['the session they were made with', (maker) => maker.auth.logout()],
    ['all sessions of the user', ({ id }) => node.chat.users.endSessions(OPERATOR, id)],
    [
      'the password',
      async ({ email }) => {
        const other = node.client()
        await other.auth.login({ email, password: PASSWORD })
        await other.auth.changePassword({ current_password: PASSWORD, new_password: 'another horse battery' })
      },
    ],
    ['the user', ({ id }) => node.chat.users.erase(OPERATOR, id, {})],
    [
      'the user for a while',
      async ({ id }) => {
        await node.chat.users.change(OPERATOR, id, { disabled: true })
        await node.chat.users.change(OPERATOR, id, { disabled: false })
      },
    ],
  ]
  it.each(ENDS)('end with %s, on every node, and so do their streams', async (title, end) => {
    const { maker, token, ticket } = await person(title.replaceAll(' ', '-'))
    const streams = [
      await openStream(service.base_url, undefined, { authorization: `Bearer ${token}` }),
      await openStream(service.base_url, undefined, { search: ticketOf(ticket) }),
    ]
    for (const stream of streams) await stream.until('stream.ready')
    await end(maker)
    await nextTurn()
    for (const at of [service, node]) {
      expect(await codeOf(as(token, at).auth.me())).toBe('unauthenticated')
      expect((await fetch(`${at.base_url}/api/stream${ticketOf(ticket)}`)).status).toBe(401)
    }
    for (const stream of streams)
      expect((await stream.until('stream.closed')).at(-1)!.event.payload).toEqual({ reason: 'session_ended' })
  })

  it('end with the API key that made a ticket', async () => {
    const { maker } = await person('keyed')
    const { key, id } = await maker.keys.create({ name: 'program' })
    const { token } = await as(key).tokens.issue({ scopes: ['stream'] })
    const stream = await openStream(node.base_url, undefined, { search: ticketOf(token) })
    await stream.until('stream.ready')
    await maker.keys.revoke(id)
    await stream.until('stream.closed')
    await nextTurn()
    expect((await fetch(`${service.base_url}/api/stream${ticketOf(token)}`)).status).toBe(401)
  })

  it('of a signed token expire with it, and are refused with it', async () => {
    const jwt = await sign('grace', 120)
    const { token, expires_at } = await as(jwt).tokens.issue({})
    expect(Date.parse(expires_at) * 1000).toBeLessThanOrEqual(now() + 120 * SECOND)
    const { user } = await as(token).auth.me()
    expect((await service.chat.users.actorOf('grace')).user_id).toBe(user.id)
    const { token: ticket } = await as(jwt).tokens.issue({ scopes: ['stream'] })
    const stream = await openStream(service.base_url, undefined, { search: ticketOf(ticket) })
    await stream.until('stream.ready')
    ahead += 121 * SECOND
    await stream.until('stream.closed')

    const another = await sign('grace', 600)
    const made = await as(another).tokens.issue({})
    await as(made.token, node).auth.me()
    await service.chat.sessions.endForSubject('grace')
    await nextTurn()
    for (const at of [service, node]) expect(await codeOf(as(made.token, at).auth.me())).toBe('unauthenticated')
    // One that the same proof makes afterwards would be refused, too.
    expect(await codeOf(as(another).tokens.issue({}))).toBe('unauthenticated')
  })

  it('are issued by the operator for any user, and by a user for no other one', async () => {
    const { maker, conversation_id } = await person('named')
    const { user } = await service.chat.users.ensure(OPERATOR, { subject: 'shop 7' })
    const { issue } = service.chat.tokens
    expect((await as((await issue(OPERATOR, { user_id: maker.id })).token).auth.me()).user.id).toBe(maker.id)
    expect((await as((await issue(OPERATOR, { subject: 'shop 7' })).token).auth.me()).user.id).toBe(user.id)
    for (const input of [{}, { user_id: maker.id, subject: 'shop 7' }])
      expect(await codeOf(issue(OPERATOR, input))).toBe('validation_failed')
    const system = await service.chat.system('orders')
    expect(await codeOf(issue(OPERATOR, { subject: 'unknown' }))).toBe('not_found')
    expect(await codeOf(issue(OPERATOR, { user_id: conversation_id }))).toBe('not_found')
    expect(await codeOf(issue(OPERATOR, { user_id: system.user_id }))).toBe('not_found')
    expect(await codeOf(issue(system, {}))).toBe('forbidden')
    expect(await codeOf(issue(await service.chat.users.actor(maker.id), { user_id: user.id }))).toBe('forbidden')
    await service.chat.users.change(OPERATOR, user.id, { disabled: true })
    expect(await codeOf(issue(OPERATOR, { subject: 'shop 7' }))).toBe('account_disabled')
  })

  it('read files by a link, and both end with the session', async () => {
    const { maker, conversation_id, token } = await person('reader')
    const bytes = Buffer.from('engine')
    const { attachment } = await as(token).attachments.create(conversation_id, { name: 'a.bin', size: bytes.length })
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/octet-stream' }
    const parts = `${service.base_url}/api/attachments/${attachment.id}/parts/1`
    expect((await fetch(parts, { method: 'PUT', headers, body: bytes })).status).toBe(200)
    const { url } = await as(token).attachments.link(attachment.id, {})
    const content = `/api/attachments/${attachment.id}/content`
    const read = async (path: string, sent: Record<string, string> = {}) => {
      await nextTurn()
      const response = await fetch(new URL(path, node.base_url), { headers: sent })
      return response.ok ? response.text() : response.status
    }
    const { authorization } = headers
    expect([await read(url), await read(content, { authorization })]).toEqual(['engine', 'engine'])
    const { token: narrow } = await maker.tokens.issue({ scopes: ['stream'] })
    expect(await read(content, { authorization: `Bearer ${narrow}` })).toBe(403)
    await maker.auth.logout()
    expect([await read(url), await read(content, { authorization })]).toEqual([404, 401])
  })

  it('are a caller of the library only if they write', async () => {
    const { maker, token } = await person('hosted')
    const read = (await maker.tokens.issue({ scopes: ['read'] })).token
    const bearer = (value: string) => new Headers({ authorization: `Bearer ${value}` })
    expect(await service.chat.auth.authenticate(bearer(token))).toMatchObject({ user_id: maker.id })
    expect(await codeOf(service.chat.auth.authenticate(bearer(read)))).toBe('forbidden')
  })

  it('are in no line of the log, in no metric and in no entry of the audit log', async () => {
    const { maker, token, ticket } = await person('discreet')
    await openStream(service.base_url, undefined, { search: ticketOf(ticket) }).then((stream) => stream.close())
    const body = await (await fetch(`${service.base_url}/api/stream?ticket=${ticket}x`)).text()
    await as(token).auth.me()
    const said = [body, ...lines, await service.chat.ops.metrics(null)]
    said.push(JSON.stringify(await service.chat.audit.list(OPERATOR, { user_id: maker.id })))
    expect(lines.length).toBeGreaterThan(10)
    expect(said.filter((text) => /\bct_/.test(text))).toEqual([])
  })
})

describe('a service whose host has the login', () => {
  it('takes its own tokens beside it, which end with the login of their person', async () => {
    let identity: Identity | null = { subject: '1' }
    const service = await startService('sqlite::memory:', { ports: { now, identity: () => identity } })
    onTestFinished(() => service.close())
    const { token } = await service.client().tokens.issue({})
    identity = null
    const client = createAdminClient({ base_url: service.base_url, api_key: token, fetch: checkedFetch })
    await client.auth.me()
    expect(await codeOf(service.client().auth.me())).toBe('unauthenticated')
    await service.chat.sessions.endForSubject('1')
    expect(await codeOf(client.auth.me())).toBe('unauthenticated')
  })
})
