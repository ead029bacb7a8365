import { beforeAll, expect, it } from 'vitest'
import { digest } from '../../../lib/core/ids.ts'
import { SECOND } from '../../../lib/core/units.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { checkedFetch } from '../../support/answers.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { codeOf, innerState, PASSWORD, type Person, startService, startThread, times } from '../../support/service.ts'

describeOnEachDatabase('invites', (openUrl) => {
  const service = setUpService(async () => startService(await openUrl(), { ports: { now: () => now } }))
  let ada: Person
  let grace: Person
  let eve: Person
  let conversation_id: string
  let now = Date.UTC(2026, 0, 1) * 1000
  beforeAll(async () => {
    ;({ ada, grace, eve, conversation_id } = await startThread(service))
  })

  const invite = async (body: Parameters<Person['invites']['create']>[1] = {}) =>
    (await ada.invites.create(conversation_id, body)).token!
  const newcomer = (name: string) => ({ username: name, email: `${name}@example.org`, password: PASSWORD })
  const accept = (person: Person, token: string) => person.invites.accept({ token })

  it('give a user with a session the role of the invite', async () => {
    const linus = await service.signIn('linus')
    const token = await invite({ role: 'viewer' })
    expect(await accept(linus, token)).toEqual({ conversation_id })
    const { participants } = await linus.conversations.get(conversation_id)
    expect(participants.find((each) => each.user_id === linus.id)!.role).toBe('viewer')
  })

  it('create an account for a new user and sign the user in', async () => {
    const token = await invite()
    const client = service.client()
    expect(await client.invites.accept({ token, ...newcomer('noa') })).toEqual({ conversation_id })
    expect(await client.auth.me()).toMatchObject({ user: { username: 'noa', roles: ['member'] } })
    await client.messages.postRoot(conversation_id, { content: 'hello from Noa' })
    expect(await codeOf(service.client().invites.accept({ token, ...newcomer('late') }))).toBe('invite_used')
    expect(await codeOf(service.client().auth.login({ email: 'late@example.org', password: PASSWORD }))).toBe(
      'invalid_credentials',
    )
  })

  it('require a session or an account to create', async () => {
    const token = await invite()
    expect(await codeOf(service.client().invites.accept({ token }))).toBe('unauthenticated')
    expect(await codeOf(service.client().invites.accept({ token, username: 'half', email: 'half@example.org' }))).toBe(
      'unauthenticated',
    )
    expect(await codeOf(service.client().invites.accept({ token, ...newcomer('ada') }))).toBe('email_taken')
  })

  it('treat an expired session as none, and require the CSRF token of a live one', async () => {
    const body = JSON.stringify({ token: await invite(), ...newcomer('otto') })
    const send = (headers: Record<string, string>) =>
      checkedFetch(`${service.base_url}/api/invites/accept`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body,
      })
    expect((await send({ cookie: `SESSION_ID=${'x'.repeat(43)}`, 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    const signedUp = await send({ cookie: `SESSION_ID=${'x'.repeat(43)}` })
    expect(signedUp.status).toBe(200)
    expect(signedUp.headers.get('x-session-rotated')).toBe('1')
    const cookie = signedUp.headers
      .getSetCookie()
      .map((line) => line.split(';')[0])
      .join('; ')
    expect((await send({ cookie })).status).toBe(403)
  })

  it('are not used up by a participant', async () => {
    const token = await invite()
    await accept(grace, token)
    await accept(grace, token)
    const { invites } = await ada.invites.list(conversation_id)
    expect(invites.at(-1)).toMatchObject({ uses: 0, max_uses: 1 })
  })

  it('give the last use to exactly one of many callers at once', async () => {
    const token = await invite({ max_uses: 3 })
    const people = await Promise.all(times(9, (i) => service.signIn(`racer${i}`)))
    const answers = await Promise.all(
      people.map((person) =>
        accept(person, token).then(
          () => 'in',
          (error) => error.code,
        ),
      ),
    )
    expect(answers.sort()).toEqual([...Array(3).fill('in'), ...Array(6).fill('invite_used')])
    expect(await codeOf(accept(await service.signIn('after'), token))).toBe('invite_used')
  })

  it('are for one address only if they name it', async () => {
    const token = await invite({ email: 'Eve@example.org' })
    const mia = await service.signIn('mia')
    expect(await codeOf(accept(mia, token))).toBe('invite_email_mismatch')
    expect(await codeOf(service.client().invites.accept({ token, ...newcomer('eva') }))).toBe('invite_email_mismatch')
    expect(await codeOf(service.client().auth.login({ email: 'eva@example.org', password: PASSWORD }))).toBe(
      'invalid_credentials',
    )
    await accept(eve, token)
    await ada.participants.remove(conversation_id, eve.id)
  })

  it('expires', async () => {
    const token = await invite({ ttl_seconds: 60 })
    now += 60 * SECOND + 1
    expect(await codeOf(accept(eve, token))).toBe('invite_expired')
  })

  it('are revoked by their creator, or by an owner or admin, for good', async () => {
    const linus = await service.signIn('linus')
    await ada.participants.changeRole(conversation_id, grace.id, { role: 'admin' })
    const { token = '' } = await grace.invites.create(conversation_id, {})
    expect(await codeOf(linus.invites.revoke(token))).toBe('forbidden')
    expect(await codeOf(eve.invites.revoke(token))).toBe('not_found')
    await ada.invites.revoke(token)
    await grace.invites.revoke(token)
    expect(await codeOf(accept(eve, token))).toBe('invite_revoked')
    expect(await codeOf(accept(eve, 'unknown'))).toBe('not_found')
  })

  it('are revoked by the id of the list, too, by no one else', async () => {
    const { token = '', invite_id } = await ada.invites.create(conversation_id, {})
    const linus = await service.signIn('linus')
    expect(await codeOf(linus.invites.revoke(invite_id))).toBe('forbidden')
    expect(await codeOf(eve.invites.revoke(invite_id))).toBe('not_found')
    await ada.invites.revoke(invite_id)
    expect(await codeOf(accept(eve, token))).toBe('invite_revoked')
    expect((await ada.invites.list(conversation_id)).invites.map(({ id }) => id)).not.toContain(invite_id)
  })

  it('are created and listed by owners and admins; only owners invite owners', async () => {
    const linus = await service.signIn('linus')
    expect(await codeOf(linus.invites.create(conversation_id, {}))).toBe('forbidden')
    expect(await codeOf(linus.invites.list(conversation_id))).toBe('forbidden')
    expect(await codeOf(grace.invites.create(conversation_id, { role: 'owner' }))).toBe('forbidden')
    expect((await grace.invites.list(conversation_id)).invites.length).toBeGreaterThan(0)
  })

  it('are created when a participant is added by an unknown email address', async () => {
    const added = await ada.participants.add(conversation_id, { email: 'future@example.org' })
    if (!('invite' in added)) throw new Error('No invite was made')
    const client = service.client()
    expect(await codeOf(client.invites.accept({ token: added.invite.token!, ...newcomer('other') }))).toBe(
      'invite_email_mismatch',
    )
    await client.invites.accept({ token: added.invite.token!, ...newcomer('future') })
    expect((await client.conversations.get(conversation_id)).id).toBe(conversation_id)
  })

  it('return their token once, and are stored with a digest of it', async () => {
    const token = await invite()
    expect(JSON.stringify(await ada.invites.list(conversation_id))).not.toContain(token)
    const rows = JSON.stringify(await innerState(service).db.all(sql`SELECT * FROM invites`))
    expect(rows).not.toContain(token)
    expect(rows).toContain(digest(token))
  })

  it.each([
    ['a lifetime too short', { ttl_seconds: 59 }],
    ['a lifetime too long', { ttl_seconds: 2_592_001 }],
    ['no use at all', { max_uses: 0 }],
    ['half a use', { max_uses: 1.5 }],
    ['no address', { email: 'nobody' }],
  ])('refuses %s', async (_, body) => {
    expect(await codeOf(invite(body))).toBe('validation_failed')
  })
})
