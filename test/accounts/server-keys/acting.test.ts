import { request } from 'node:http'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { DAY, SECOND } from '../../../lib/core/units.ts'
import { OPERATOR } from '../../../lib/index.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpNodes, startNodes } from '../../support/describe-service.ts'
import { codeOf, type Person } from '../../support/service.ts'
import { openStream } from '../../support/stream.ts'
import { callWith, refusalOf, type Sent } from './calls.ts'

/** The clock of the services: it runs on from here. */
let ahead = 0
const now = () => Date.now() * 1000 + ahead

describeOnEachDatabase('a server key', (openUrl) => {
  const lines: string[] = []
  const note = (message: string, fields?: object) => void lines.push(`${message} ${JSON.stringify(fields)}`)
  const log = { debug: note, info: note, warn: note, error: note }
  const [service, node] = setUpNodes(async () =>
    startNodes(await openUrl(), {
      config: { log: { requests: 'all' }, server: { cors: { token_origins: ['*'] } } },
      ports: { now, log },
    }),
  )
  let founder: Person
  let ada: Person
  let conversation_id: string
  beforeAll(async () => {
    founder = await service.signIn('founder')
    ada = await service.signIn('ada')
    ;({ conversation_id } = await ada.conversations.create({}))
    await service.chat.users.ensure(OPERATOR, { subject: 'acct/é 42,x', username: 'zoe' })
  })

  type Scopes = Parameters<typeof service.chat.serverKeys.create>[1]['scopes']
  const make = async (scopes: Scopes, expires_at?: string) =>
    service.chat.serverKeys.create(OPERATOR, { name: 'shop', scopes, expires_at })
  const revokeAll = async () => {
    for (const { id } of (await service.chat.serverKeys.list(OPERATOR)).keys)
      await service.chat.serverKeys.revoke(OPERATOR, id)
  }

  const call = (key: string, act_as: string | undefined, line: string, sent: Sent & { at?: typeof service } = {}) => {
    const { at = service, ...rest } = sent
    return callWith(at, key, line, { ...rest, act_as })
  }
  const refusal = refusalOf

  it('acts for a user by id and by subject, on every node, with the rights of that user', async () => {
    const { key } = await make(['act_as'])
    expect(key).toMatch(/^csk_/)
    for (const at of [service, node]) {
      const me = await call(key, `user:${ada.id}`, 'GET /api/auth/me', { at })
      expect(me).toMatchObject({ status: 200, body: { user: { id: ada.id } } })
    }
    const subject = `subject:${encodeURIComponent('acct/é 42,x')}`
    expect((await call(key, subject, 'GET /api/auth/me')).body.user.username).toBe('zoe')
    const posting = `POST /api/threads/${conversation_id}/root`
    const posted = await call(key, `user:${ada.id}`, posting, { body: { content: 'by the shop' } })
    expect(posted.status).toBe(201)
    expect((await ada.messages.get(posted.body.message_id)).author_user_id).toBe(ada.id)
    expect((await call(key, subject, posting, { body: { content: 'no' } })).status).toBe(404)
    await revokeAll()
  })

  it.each<[string, string, [number, string, string?]]>([
    ['nothing known', 'user:01980a3c-7000-7a10-8b20-0c4f1d2e3a46', [404, 'not_found']],
    ['an unknown subject', 'subject:nobody', [404, 'not_found']],
    ['an empty name', 'user:', [422, 'validation_failed']],
    ['nothing', '', [422, 'validation_failed']],
    ['another kind', 'group:42', [422, 'validation_failed']],
    ['a kind in capitals', 'User:42', [422, 'validation_failed']],
    ['a broken escape', 'subject:%zz', [422, 'validation_failed']],
    ['an escape that is no UTF-8', 'subject:%ff', [422, 'validation_failed']],
    ['a NUL', 'subject:%00', [422, 'validation_failed']],
    ['a comma, as of two headers', 'user:a,user:b', [422, 'validation_failed']],
    ['a space', 'user:a b', [422, 'validation_failed']],
    ['9 kB', `subject:${'a'.repeat(9 * 1024)}`, [422, 'validation_failed']],
    ['256 characters', `subject:${'a'.repeat(256)}`, [422, 'validation_failed']],
    ['255 characters of three bytes', `subject:${'%E2%82%AC'.repeat(255)}`, [404, 'not_found']],
    ['an administrator', 'founder', [403, 'forbidden', 'key']],
    ['a part of the host', 'system user', [404, 'not_found']],
    ['a disabled user', 'disabled', [403, 'account_disabled']],
    ['a bot of a disabled owner', 'abandoned', [403, 'account_disabled']],
    ['the bot of a hook', 'hook', [404, 'not_found']],
    ['a merged user', 'merged', [404, 'not_found']],
    ['a part of the host without that scope', 'system:orders', [403, 'forbidden', 'scope']],
  ])('refuses to act for %s', async (title, given, refused) => {
    const { key } = await make(['act_as', 'users'])
    const special: Record<string, () => Promise<string>> = {
      founder: async () => founder.id,
      'system user': async () => (await service.chat.system('printer')).user_id,
      disabled: async () => {
        const { user } = await service.chat.users.ensure(OPERATOR, { subject: 'disabled' })
        await service.chat.users.change(OPERATOR, user.id, { disabled: true })
        return user.id
      },
      abandoned: async () => {
        const owner = await service.signIn('owner')
        const { bot } = await owner.bots.create({ username: 'abandoned' })
        await service.chat.users.change(OPERATOR, owner.id, { disabled: true })
        return bot.id
      },
      hook: async () => (await ada.hooks.create(conversation_id, { name: 'Alerts' })).hook.bot_id,
      merged: async () => {
        const { user } = await service.chat.users.ensure(OPERATOR, { subject: 'merged' })
        await service.chat.users.merge(OPERATOR, { from: { user_id: user.id }, into: { user_id: ada.id } })
        return user.id
      },
    }
    const act_as = special[given] ? `user:${await special[given]()}` : given
    const answer = await call(key, act_as, 'GET /api/auth/me')
    expect(refusal(answer), title).toEqual([...refused, ...(refused.length < 3 ? [undefined] : [])])
    await revokeAll()
  })

  it('refuses the header on two lines', async () => {
    const { key } = await make(['act_as'])
    const { hostname, port } = new URL(service.base_url)
    const statusOf = (lines: string[]) =>
      new Promise<number | undefined>((resolve, reject) => {
        const headers = { authorization: `Bearer ${key}`, 'chat-act-as': lines }
        request({ hostname, port, path: '/api/auth/me', headers }, (response) => {
          response.resume()
          resolve(response.statusCode)
        })
          .on('error', reject)
          .end()
      })
    const line = `user:${ada.id}`
    expect(await statusOf([line])).toBe(200)
    for (const lines of [
      [line, line],
      [line, ''],
      ['', line],
      [line, 'system:orders'],
    ])
      expect(await statusOf(lines), lines.join('|')).toBe(422)
    await revokeAll()
  })

  it('ignores the header without a server key', async () => {
    const { key } = await ada.keys.create({ name: 'own' })
    const me = await call(key, `user:${founder.id}, nonsense`, 'GET /api/auth/me')
    expect(me.body.user.id).toBe(ada.id)
  })

  it('may without the header call what its scopes name, and with it nothing of the sign-in', async () => {
    const { key } = await make(['act_as', 'system', 'users'])
    for (const path of ['/api/auth/me', '/api/conversations', '/api/admin/users', '/api/stream'])
      expect(refusal(await call(key, undefined, `GET ${path}`))).toEqual([403, 'forbidden', 'key'])
    for (const act_as of [`user:${ada.id}`, 'system:orders'])
      for (const path of ['/api/auth/keys', '/api/auth/sessions'])
        expect(refusal(await call(key, act_as, `GET ${path}`)), act_as).toEqual([403, 'forbidden', 'key'])
    const headers = new Headers({ authorization: `Bearer ${key}` })
    expect(await codeOf(service.chat.auth.authenticate(headers))).toBe('forbidden')
    headers.set('chat-act-as', `user:${ada.id}`)
    expect((await service.chat.auth.authenticate(headers)).user_id).toBe(ada.id)
    await revokeAll()
  })

  it('is refused to pages, and the header in preflights', async () => {
    const { key } = await make(['act_as'])
    const origin = { origin: 'https://shop.example.org' }
    const answer = await call(key, `user:${ada.id}`, 'GET /api/auth/me', { headers: origin })
    expect(refusal(answer)).toEqual([403, 'forbidden', 'key'])
    const preflight = await fetch(`${service.base_url}/api/auth/me`, {
      method: 'OPTIONS',
      headers: {
        ...origin,
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'authorization, chat-act-as',
      },
    })
    expect(preflight.headers.get('access-control-allow-headers')?.toLowerCase()).toContain('authorization')
    expect(preflight.headers.get('access-control-allow-headers')?.toLowerCase()).not.toContain('act-as')
    await revokeAll()
  })

  it('is dead on every node once it is revoked: streams, tokens and invites end too', async () => {
    const { id, key } = await make(['act_as'])
    const act_as = `user:${ada.id}`
    const invite = await call(key, act_as, `POST /api/conversations/${conversation_id}/invites`, { body: {} })
    expect(invite.status).toBe(200)
    const issued = await call(key, act_as, 'POST /api/auth/tokens', { body: {} })
    expect(issued.status).toBe(201)
    const bearer = { authorization: `Bearer ${issued.body.token}` }
    expect((await call(issued.body.token, undefined, 'GET /api/auth/me')).body.user.id).toBe(ada.id)
    const streams = [
      await openStream(node.base_url, undefined, { authorization: `Bearer ${key}`, act_as }),
      await openStream(node.base_url, undefined, bearer),
    ]
    for (const stream of streams) await stream.until('stream.ready')
    await service.chat.serverKeys.revoke(OPERATOR, id)
    const from = Date.now()
    for (const stream of streams) await stream.until('stream.closed')
    expect(Date.now() - from).toBeLessThan(3000)
    for (const at of [service, node]) {
      expect((await call(key, act_as, 'GET /api/auth/me', { at })).status).toBe(401)
      expect((await call(issued.body.token, undefined, 'GET /api/auth/me', { at })).status).toBe(401)
    }
    const grace = await service.signIn('grace')
    expect(await codeOf(grace.invites.accept({ token: invite.body.token }))).toBe('invite_revoked')
    for (const stream of streams) await stream.close()
    await service.chat.serverKeys.revoke(OPERATOR, id)
  })

  it('ends at its expiry, with what it has made', async () => {
    const { key } = await make(['act_as'], new Date(Date.now() + 60_000).toISOString())
    const act_as = `user:${ada.id}`
    const { body } = await call(key, act_as, 'POST /api/auth/tokens', { body: {} })
    ahead = 61 * SECOND
    onTestFinished(() => {
      ahead = 0
    })
    expect((await call(key, act_as, 'GET /api/auth/me')).status).toBe(401)
    expect((await call(body.token, undefined, 'GET /api/auth/me')).status).toBe(401)
    await revokeAll()
  })

  it('makes no token that acts for an administrator later', async () => {
    const { key } = await make(['act_as'])
    const { user } = await service.chat.users.ensure(OPERATOR, { subject: 'rising' })
    const { body } = await call(key, 'subject:rising', 'POST /api/auth/tokens', { body: {} })
    expect((await call(body.token, undefined, 'GET /api/auth/me')).status).toBe(200)
    await service.chat.users.change(OPERATOR, user.id, { roles: ['admin'] })
    expect((await call(body.token, undefined, 'GET /api/auth/me')).status).toBe(401)
    expect((await call(key, 'subject:rising', 'GET /api/auth/me')).status).toBe(403)
    await revokeAll()
  })

  it('is in the audit log beside the user, and in no log', async () => {
    const { id, key } = await make(['act_as'])
    const renaming = `PATCH /api/conversations/${conversation_id}`
    expect((await call(key, `user:${ada.id}`, renaming, { body: { policy: { post: 'admins' } } })).status).toBe(200)
    await call(key, `user:${ada.id}`, renaming, { body: { policy: { post: null } } })
    const { entries } = await service.chat.audit.list(OPERATOR, { act: 'conversation.policy_changed' })
    expect(entries[0]).toMatchObject({ actor_id: ada.id, detail: { server_key: id } })
    expect(lines.join('\n')).toContain(id)
    expect(lines.join('\n')).not.toContain(key)
    await service.chat.serverKeys.revoke(OPERATOR, id)
    const made = await service.chat.audit.list(OPERATOR, { subject_id: id })
    expect(made.entries.map(({ act }) => act).sort()).toEqual(['server_key.created', 'server_key.revoked'])
  })

  describe('of the operator', () => {
    it('is one of at most 20, also when many are made at once', async () => {
      const made = await Promise.allSettled(Array.from({ length: 24 }, () => make(['users'])))
      expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(20)
      expect(await codeOf(make(['users']))).toBe('conflict')
      await revokeAll()
    })

    it('does not count once it has expired, and is deleted a month later', async () => {
      for (let n = 0; n < 19; n++) await make(['users'])
      const { id } = await make(['users'], new Date(Date.now() + 60_000).toISOString())
      expect(await codeOf(make(['users']))).toBe('conflict')
      onTestFinished(() => {
        ahead = 0
      })
      ahead = 61 * SECOND
      await make(['users'])
      expect(await codeOf(make(['users']))).toBe('conflict')
      const listed = async () => (await service.chat.serverKeys.list(OPERATOR)).keys.map((key) => key.id)
      await service.chat.ops.prune()
      expect(await listed()).toHaveLength(21)
      ahead += 30 * DAY
      await service.chat.ops.prune()
      expect(await listed()).toHaveLength(20)
      expect(await listed()).not.toContain(id)
      await revokeAll()
    })

    it('has known scopes, a name and a time to come', async () => {
      expect(await codeOf(make([]))).toBe('validation_failed')
      expect(await codeOf(make(['all'] as never))).toBe('validation_failed')
      expect(await codeOf(make(['act_as'], new Date(Date.now() - 1000).toISOString()))).toBe('conflict')
      const founding = await service.chat.users.actor(founder.id)
      expect(await codeOf(service.chat.serverKeys.list(founding))).toBe('forbidden')
    })

    it('is listed without the key, and with its last use', async () => {
      const { key, ...created } = await make(['system', 'act_as', 'act_as'])
      expect(created.scopes).toEqual(['act_as', 'system'])
      await call(key, `user:${ada.id}`, 'GET /api/auth/me')
      const { keys } = await service.chat.serverKeys.list(OPERATOR)
      expect(keys).toEqual([{ ...created, last_used_at: expect.any(String) }])
      expect(JSON.stringify(keys)).not.toContain(key)
      await revokeAll()
    })
  })
})
