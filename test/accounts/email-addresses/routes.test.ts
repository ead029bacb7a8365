import { beforeAll, expect, it } from 'vitest'
import { digest } from '../../../lib/core/ids.ts'
import { SECOND } from '../../../lib/core/units.ts'
import { type ChatError, OPERATOR } from '../../../lib/index.ts'
import { statement } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpNodes } from '../../support/describe-service.ts'
import { createMailbox } from '../../support/mailbox.ts'
import { codeOf, innerState, PASSWORD, type Person, startService, times } from '../../support/service.ts'

describeOnEachDatabase('an unverified email address', (openUrl) => {
  let url: string
  const [service, node] = setUpNodes(async () => {
    url = await openUrl()
    const config = {
      server: { public_url: 'https://chat.example.org' },
      session: { idle_seconds: 30 * 86_400, absolute_seconds: 60 * 86_400 },
    }
    const ports = { now: () => now, mail: box.deliver }
    return [await startService(url, { config, ports }), await startService(url, { config, ports })]
  })
  let founder: Person
  let now = Date.UTC(2026, 0, 1) * 1000
  const box = createMailbox()
  beforeAll(async () => {
    founder = await service.signIn('founder')
  })

  /** A signed-in user with an unverified address. */
  async function unproven(name: string): Promise<Person> {
    const email = `${name}@example.org`
    const user = { username: name, email, password: PASSWORD, email_verified: false }
    const created = await service.chat.users.create(OPERATOR, user)
    expect(created.user.email_verified).toBe(false)
    const client = service.client()
    await client.auth.login({ email, password: PASSWORD })
    return Object.assign(client, { id: created.user.id, email })
  }
  const send = async (person: Person) => {
    await person.emails.sendVerification()
    return box.next()
  }
  const verify = (token: string, on = service) => on.client().emails.verify({ token })
  const isProven = async (person: Person) => (await person.auth.me()).user.email_verified
  const rows = (sql: string, ...params: string[]) => innerState(service).db.all(statement(sql, params))

  it('is verified with a token from a mail, once, without a session', async () => {
    const ada = await unproven('ada')
    const mail = await send(ada)
    expect(mail).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      kind: 'verify_email',
      to: 'ada@example.org',
      subject: 'Confirm your e-mail address',
      text: expect.stringContaining(`https://chat.example.org/account/verify-email#token=${mail.token}\n`),
      token: expect.stringMatching(/^[\w-]{43}$/),
    })
    const other = await send(ada)
    const stored = await rows('SELECT token_hash FROM email_verifications WHERE user_id = ?', ada.id)
    expect(stored).toContainEqual({ token_hash: digest(mail.token) })
    expect(await isProven(ada)).toBe(false)
    await verify(mail.token)
    expect(await isProven(ada)).toBe(true)
    for (const { token } of [mail, other]) expect(await codeOf(verify(token))).toBe('not_found')
    await ada.emails.sendVerification()
    expect(box.size()).toBe(0)
    const { entries } = await founder.audit.list({ user_id: ada.id })
    expect(entries.map(({ act }) => act).slice(0, 3)).toEqual([
      'email.verified',
      'email.verification_sent',
      'email.verification_sent',
    ])
  })

  it('is verified within a day, to the instant, by any of the last five links', async () => {
    const grace = await unproven('grace')
    const { token } = await send(grace)
    now += 86_400 * SECOND + 1
    expect(await codeOf(verify(token))).toBe('not_found')
    const early = await send(grace)
    for (const _ of times(5, String)) {
      now += 300 * SECOND
      await send(grace)
    }
    expect(await codeOf(verify(early.token))).toBe('not_found')
    const last = await send(grace)
    now += 86_400 * SECOND
    await verify(last.token)
    expect(await isProven(grace)).toBe(true)
    for (const madeUp of ['', 'x', 'x'.repeat(43)]) expect(await codeOf(verify(madeUp))).toBe('not_found')
  })

  it('gets five mails at once, then one in five minutes, on every node', async () => {
    const heidi = await unproven('heidi')
    const actor = await service.chat.users.actor(heidi.id)
    const sent = await Promise.allSettled(times(9, (i) => [service, node][i % 2]!.chat.emails.sendVerification(actor)))
    for (const _ of times(5, String)) await box.next()
    expect(sent.filter((each) => each.status === 'fulfilled')).toHaveLength(5)
    const refused = await heidi.emails.sendVerification().catch((error: ChatError) => error)
    expect(refused).toMatchObject({ code: 'rate_limited', retry_after_seconds: 300 })
    now += 300 * SECOND
    await send(heidi)
    expect(box.size()).toBe(0)
  })

  it('is verified by exactly one of many calls with the same token, on two nodes', async () => {
    const ivan = await unproven('ivan')
    const { token } = await send(ivan)
    const results = await Promise.allSettled(times(8, (i) => verify(token, [service, node][i % 2]!)))
    expect(results.filter((each) => each.status === 'fulfilled')).toHaveLength(1)
    expect(await isProven(ivan)).toBe(true)
  })

  it('is verified by a reset link', async () => {
    const judy = await unproven('judy')
    await service.client().resets.request({ email: judy.email })
    await service.client().resets.redeem({ token: (await box.next()).token, password: 'another horse' })
    await judy.auth.login({ email: judy.email, password: 'another horse' })
    expect(await isProven(judy)).toBe(true)
  })

  it('is marked as verified by an administrator; a changed address is unverified', async () => {
    const kim = await unproven('kim')
    // A change of the address requires a sign-in within the last ten minutes.
    await founder.auth.login({ email: founder.email, password: PASSWORD })
    const change = (body: { email?: string; email_verified?: boolean }) => founder.users.change(kim.id, body)
    const { token } = await send(kim)
    const link = await service.chat.resets.issue(OPERATOR, { email: kim.email })
    expect((await change({ email_verified: true })).user.email_verified).toBe(true)
    expect((await change({ email: 'KIM@example.org' })).user).toMatchObject({
      email: 'KIM@example.org',
      email_verified: true,
    })
    expect((await change({ email: ' kim@example.net ' })).user).toMatchObject({
      email: 'kim@example.net',
      email_verified: false,
    })
    // Links mailed to the old address are invalid.
    expect(await codeOf(verify(token))).toBe('not_found')
    const reset = { token: link.token, password: 'another horse' }
    expect(await codeOf(service.client().resets.redeem(reset))).toBe('not_found')
    expect((await change({ email: 'kim@example.com', email_verified: true })).user.email_verified).toBe(true)
    expect((await change({ email_verified: false })).user.email_verified).toBe(false)
    expect(await codeOf(change({ email: 'Founder@example.org' }))).toBe('email_taken')
    const { entries } = await founder.audit.list({ act: 'user.changed', limit: 4 })
    expect(entries.map(({ detail }) => detail)).toEqual([
      { changed: ['email_verified'] },
      { changed: ['email', 'email_verified'] },
      { changed: ['email', 'email_verified'] },
      { changed: ['email'] },
    ])
    await service.client().auth.login({ email: 'kim@example.com', password: PASSWORD })
  })

  it('is not verified with an API key, without mail, or for a user disabled meanwhile', async () => {
    const liz = await unproven('liz')
    const { key } = await service.chat.keys.create(await service.chat.users.actor(liz.id), { name: 'a script' })
    const response = await fetch(`${service.base_url}/api/auth/me/verify-email`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
    })
    expect(response.status).toBe(403)
    const silent = await startService(url, { ports: { now: () => now } })
    expect(await codeOf(silent.chat.emails.sendVerification(await silent.chat.users.actor(liz.id)))).toBe('conflict')
    await silent.close()
    const { token } = await send(liz)
    await service.chat.users.change(OPERATOR, liz.id, { disabled: true })
    expect(await codeOf(verify(token))).toBe('not_found')
  })
})
