import { beforeAll, expect, it } from 'vitest'
import { OPERATOR } from '../../../lib/index.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { codeOf, type Person, startService } from '../../support/service.ts'
import { callWith, refusalOf, type Sent } from './calls.ts'

const BASE = '/api/admin/users/by-subject'

describeOnEachDatabase('a server key with the scope users', (openUrl) => {
  const service = setUpService(async () => startService(await openUrl()))
  let founder: Person
  let key: string
  let id: string
  beforeAll(async () => {
    founder = await service.signIn('founder')
    ;({ key, id } = await service.chat.serverKeys.create(OPERATOR, { name: 'shop', scopes: ['users'] }))
  })
  const call = (line: string, sent?: Sent) => callWith(service, key, line, sent)

  it('creates, changes and reads the user of a person, whose id may have any characters', async () => {
    for (const subject of ['42', 'acct/é 42,x', 'a?b#c', '..x', '%2F', '\u{1F600}']) {
      const path = `${BASE}/${encodeURIComponent(subject)}`
      const made = await call(`PUT ${path}`, { body: { display_name: 'Grace' } })
      expect(made, subject).toMatchObject({ status: 201, body: { created: true, user: { subject } } })
      const again = await call(`PUT ${path}`, { body: { display_name: 'Grace Hopper' } })
      expect(again).toMatchObject({ status: 200, body: { created: false, user: { display_name: 'Grace Hopper' } } })
      expect(again.body.user.id).toBe(made.body.user.id)
      const read = await call(`GET ${path}`)
      expect(read).toMatchObject({ status: 200, body: { user: { id: made.body.user.id, subject } } })
    }
    const { entries } = await service.chat.audit.list(OPERATOR, { act: 'user.created', limit: 1 })
    expect(entries[0]).not.toHaveProperty('actor_id')
    expect(entries[0]!.detail).toMatchObject({ by: 'host', server_key: id })
  })

  it('creates one user when many calls name a person at once', async () => {
    const made = await Promise.all(Array.from({ length: 8 }, () => call(`PUT ${BASE}/crowd`, { body: {} })))
    expect(new Set(made.map(({ body }) => body.user.id)).size).toBe(1)
    expect(made.filter(({ status }) => status === 201)).toHaveLength(1)
  })

  it.each([
    ['GET', `${BASE}/nobody`, 404],
    ['DELETE', `${BASE}/nobody`, 404],
    ['GET', `${BASE}/%00`, 422],
    ['GET', `${BASE}/${'a'.repeat(256)}`, 422],
    ['GET', `${BASE}/%zz`, 404],
  ])('refuses %s %s', async (method, path, status) => {
    expect((await call(`${method} ${path}`)).status).toBe(status)
  })

  it('gives no role that is not configured', async () => {
    expect((await call(`PUT ${BASE}/astray`, { body: { roles: ['conductor'] } })).status).toBe(422)
    expect((await call(`GET ${BASE}/astray`)).status).toBe(404)
  })

  it('makes no administrators, and changes and erases none', async () => {
    expect(refusalOf(await call(`PUT ${BASE}/boss`, { body: { roles: ['admin'] } }))).toEqual([403, 'forbidden', 'key'])
    expect((await call(`GET ${BASE}/boss`)).status).toBe(404)
    const { user } = await service.chat.users.ensure(OPERATOR, { subject: 'chief', roles: ['admin'] })
    for (const body of [{ email: 'thief@example.org' }, {}, { roles: ['member'] }])
      expect(refusalOf(await call(`PUT ${BASE}/chief`, { body }))).toEqual([403, 'forbidden', 'key'])
    expect(refusalOf(await call(`DELETE ${BASE}/chief`))).toEqual([403, 'forbidden', 'key'])
    const merging = { from: { subject: 'chief' }, into: { user_id: founder.id } }
    expect((await call('POST /api/admin/users/merge', { body: merging })).status).toBe(409)
    expect((await call(`GET ${BASE}/chief`)).body.user).toMatchObject({ id: user.id, roles: ['admin'] })
  })

  it('ends the sessions of a person, and erases the user', async () => {
    await call(`PUT ${BASE}/leaver`, { body: {} })
    const { token } = await service.chat.tokens.issue(OPERATOR, { subject: 'leaver' })
    const me = () => callWith(service, token, 'GET /api/auth/me')
    expect((await me()).status).toBe(200)
    expect((await call(`POST ${BASE}/leaver/end-sessions`)).status).toBe(204)
    expect((await call(`POST ${BASE}/nobody/end-sessions`)).status).toBe(204)
    expect((await me()).status).toBe(401)
    const { entries } = await service.chat.audit.list(OPERATOR, { act: 'session.ended', limit: 1 })
    expect(entries).toMatchObject([{ detail: { reason: 'admin', server_key: expect.any(String) } }])
    expect((await call(`DELETE ${BASE}/leaver?messages=erase`)).status).toBe(204)
    expect((await call(`GET ${BASE}/leaver`)).status).toBe(404)
  })

  it('merges two users, again with the same answer', async () => {
    const made = await call(`PUT ${BASE}/visitor`, { body: {} })
    const into = await call(`PUT ${BASE}/customer`, { body: {} })
    const body = { from: { subject: 'visitor' }, into: { subject: 'customer' } }
    for (let n = 0; n < 2; n++)
      expect(await call('POST /api/admin/users/merge', { body })).toMatchObject({
        status: 200,
        body: { user: { id: into.body.user.id }, moved: { messages: 0, conversations: 0 } },
      })
    expect(await codeOf(service.chat.users.actor(made.body.user.id))).toBe('not_found')
    expect(refusalOf(await call('POST /api/admin/users/merge', { body: { from: {}, into: {} } }))[0]).toBe(422)
  })

  it('calls nothing else, and without the scope not these', async () => {
    expect(refusalOf(await call('GET /api/admin/users'))).toEqual([403, 'forbidden', 'key'])
    expect(refusalOf(await call(`DELETE /api/admin/users/${founder.id}`))).toEqual([403, 'forbidden', 'key'])
    const other = await service.chat.serverKeys.create(OPERATOR, { name: 'other', scopes: ['act_as'] })
    const refused = await callWith(service, other.key, `GET ${BASE}/42`)
    expect(refusalOf(refused)).toEqual([403, 'forbidden', 'scope'])
    const acting = await callWith(service, other.key, `GET ${BASE}/42`, { act_as: 'subject:42' })
    expect(refusalOf(acting)).toEqual([403, 'forbidden', 'role'])
    const own = await founder.keys.create({ name: 'own' })
    expect(refusalOf(await callWith(service, own.key, `GET ${BASE}/42`))).toEqual([403, 'forbidden', 'key'])
  })

  it('refuses paths whose subject is a dot, as URLs drop it', async () => {
    const { request } = await import('node:http')
    for (const subject of ['.', '..', '%2e', '%2E%2E']) {
      const url = new URL(service.base_url)
      const status = await new Promise((resolve, reject) => {
        const path = `${url.pathname.replace(/\/$/, '')}${BASE}/${subject}`
        const options = { host: url.hostname, port: url.port, path, headers: { authorization: `Bearer ${key}` } }
        request(options, (response) => resolve(response.resume().statusCode))
          .on('error', reject)
          .end()
      })
      expect(status, subject).toBe(400)
    }
  })
})
