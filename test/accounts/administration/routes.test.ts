import { beforeAll, expect, it } from 'vitest'
import { OPERATOR } from '../../../lib/index.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { codeOf, PASSWORD, type Person, startService } from '../../support/service.ts'

const OTHER_PASSWORD = 'staple battery horse'

describeOnEachDatabase('an administrator over HTTP', (openUrl) => {
  const service = setUpService(async () => {
    const config = { server: { public_url: 'https://chat.example.org' } }
    return startService(await openUrl(), { config, ports: { now: () => now } })
  })
  let founder: Person
  let now = Date.UTC(2026, 0, 1) * 1000
  beforeAll(async () => {
    founder = await service.signIn('founder')
  })

  const signIn = (email: string, password = PASSWORD) => service.client().auth.login({ email, password })

  it('lists the sessions of a user in pages, and ends one or all of them', async () => {
    const ada = await service.signIn('ada')
    const grace = await service.signIn('grace')
    await signIn(grace.email)
    await signIn(grace.email)
    const { sessions } = await founder.users.listSessions(grace.id)
    expect(sessions).toHaveLength(3)
    expect(sessions[0]).toMatchObject({ user_id: grace.id, username: 'grace', ip: '127.0.0.1' })
    const first = await founder.users.listSessions(grace.id, { limit: 2 })
    const rest = await founder.users.listSessions(grace.id, { limit: 2, after: first.next_after! })
    expect([...first.sessions, ...rest.sessions]).toEqual(sessions)
    expect(rest.next_after).toBeUndefined()

    const [own] = (await founder.users.listSessions(ada.id)).sessions
    expect(await codeOf(founder.users.endSession(grace.id, own!.id))).toBe('not_found')
    await founder.users.endSession(grace.id, sessions[0]!.id)
    expect(await codeOf(founder.users.endSession(grace.id, sessions[0]!.id))).toBe('not_found')
    expect(await codeOf(grace.auth.me())).toBe('unauthenticated')
    expect(await founder.users.endSessions(grace.id)).toEqual({ revoked: 2 })
    expect(await founder.users.endSessions(grace.id)).toEqual({ revoked: 0 })
    expect((await founder.users.listSessions(grace.id)).sessions).toEqual([])
    expect((await ada.auth.me()).user.id).toBe(ada.id)
    const { entries } = await founder.audit.list({ user_id: grace.id, act: 'session.revoked' })
    expect(entries.map(({ actor_id, detail }) => [actor_id, detail?.sessions])).toEqual([
      [founder.id, 2],
      [founder.id, 1],
    ])
  })

  it('makes a link that sets a new password once', async () => {
    const mia = await service.signIn('mia')
    const { token, url, expires_at } = await founder.users.issueReset(mia.id)
    expect(url).toBe(`https://chat.example.org/account/reset-password#token=${token}`)
    expect(Date.parse(expires_at)).toBe(now / 1000 + 3_600_000)
    const redeem = () => service.client().resets.redeem({ token, password: OTHER_PASSWORD })
    await redeem()
    expect(await codeOf(redeem())).toBe('not_found')
    await signIn(mia.email, OTHER_PASSWORD)
    await founder.users.change(mia.id, { disabled: true })
    expect(await codeOf(founder.users.issueReset(mia.id))).toBe('account_disabled')
  })

  it('confirms the own password before a link for the own account', async () => {
    const admin = await service.signIn('second', ['admin', 'member'])
    await admin.users.issueReset(admin.id)
    now += 11 * 60 * 1_000_000
    expect(await codeOf(admin.users.issueReset(admin.id))).toBe('confirmation_required')
    await admin.auth.confirm({ password: PASSWORD })
    await admin.users.issueReset(admin.id)
  })

  it('sees until when an account is locked, and unlocks it', async () => {
    const eve = await service.signIn('eve')
    // One after another: of many at once, some are refused before they count.
    for (let n = 0; n < 10; n++) expect(await codeOf(signIn(eve.email, 'a wrong password'))).toBe('invalid_credentials')
    const locked = await founder.users.describe(eve.id)
    expect(locked).toMatchObject({ user: { id: eve.id }, has_password: true, sessions: 1, keys: 0 })
    expect(Date.parse(locked.locked_until!)).toBeGreaterThan(now / 1000)
    await founder.users.unlock(eve.id)
    expect(await founder.users.describe(eve.id)).not.toHaveProperty('locked_until')
    await signIn(eve.email)
  })

  it('invites a newcomer by a link, lists the invite and revokes it', async () => {
    const invite = (email: string) => founder.newcomers.invite({ email, mail: false })
    const { id, token, url } = await invite('new@example.org')
    expect(url).toBe(`https://chat.example.org/account/sign-up#token=${token}`)
    const { invites } = await founder.newcomers.list()
    expect(invites).toMatchObject([{ id, email: 'new@example.org', roles: ['member'], created_by: founder.id }])
    expect(JSON.stringify(invites)).not.toContain(token)
    await founder.newcomers.revoke(id)
    expect(await codeOf(founder.newcomers.revoke(id))).toBe('not_found')
    const signUp = (token: string) =>
      service.client().newcomers.signUp({ token, username: 'newcomer', password: PASSWORD })
    expect(await codeOf(signUp(token!))).toBe('not_found')
    const others = [await invite('two@example.org'), await invite('three@example.org')]
    const first = await founder.newcomers.list({ limit: 1 })
    const rest = await founder.newcomers.list({ limit: 1, after: first.next_after! })
    expect([...first.invites, ...rest.invites].map((each) => each.id)).toEqual(others.map((each) => each.id))
    expect(rest.next_after).toBeUndefined()
    const again = await invite('new@example.org')
    expect((await signUp(again.token!)).user.email).toBe('new@example.org')
    expect(await codeOf(invite('new@example.org'))).toBe('email_taken')
    expect(await codeOf(founder.newcomers.invite({ email: 'other@example.org' }))).toBe('conflict')
  })

  it('is none with an API key, nor for a user that does not exist', async () => {
    await founder.auth.confirm({ password: PASSWORD })
    const { key } = await founder.keys.create({ name: 'a bot' })
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const call = async (method: string, path: string) =>
      (await fetch(`${service.base_url}/api/admin/${path}`, { method, headers, body: method === 'GET' ? null : '{}' }))
        .status
    for (const path of ['reset-link', 'unlock']) expect(await call('POST', `users/${founder.id}/${path}`)).toBe(403)
    const unknown = (await service.chat.conversations.create(await service.chat.users.actor(founder.id), {}))
      .conversation_id
    const { users } = founder
    for (const verb of ['describe', 'unlock', 'issueReset', 'listSessions', 'endSessions'] as const)
      expect([verb, await codeOf(users[verb](unknown))]).toEqual([verb, 'not_found'])
    expect(await service.chat.users.issueReset(OPERATOR, founder.id)).toHaveProperty('token')
  })
})
