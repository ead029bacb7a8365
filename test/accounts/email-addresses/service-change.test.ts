import { beforeAll, expect, it } from 'vitest'
import { SECOND } from '../../../lib/core/units.ts'
import { type Mail, OPERATOR } from '../../../lib/index.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { createMailbox } from '../../support/mailbox.ts'
import { codeOf, PASSWORD, type Person, startService, times } from '../../support/service.ts'

describeOnEachDatabase('a change of the own email address', (openUrl) => {
  const service = setUpService(async () => {
    const config = { server: { public_url: 'https://chat.example.org' } }
    return startService(await openUrl(), { config, ports: { now: () => now, mail } })
  })
  let now = Date.UTC(2026, 0, 1) * 1000
  const box = createMailbox()
  /** Every mail, notices too, as `kind to`. */
  const sent: string[] = []
  const mail = (each: Mail) => {
    sent.push(`${each.kind} ${each.to}`)
    box.deliver(each)
  }
  beforeAll(async () => {
    await service.signIn('founder')
  })

  const emailOf = async (id: string) => (await service.chat.users.find(OPERATOR, id)).email
  const confirm = (token: string) => service.client().emails.confirmChange({ token })
  const undo = (token: string) => service.client().emails.undoChange({ token })
  const request = async (person: Person, email: string): Promise<Mail> => {
    await person.emails.requestChange({ email })
    return box.next()
  }

  it('is confirmed by the new address; the former one is told and undoes it, and what a thief had ends', async () => {
    const ada = await service.signIn('ada')
    const mail = await request(ada, ' ada@example.net ')
    expect(mail).toMatchObject({ to: 'ada@example.net', kind: 'change_email' })
    expect(mail.text).toContain(`The account "ada"`)
    expect(mail.text).toContain(`https://chat.example.org/account/confirm-email#token=${mail.token}\n`)
    expect(await emailOf(ada.id)).toBe('ada@example.org')
    await confirm(mail.token)
    expect((await ada.auth.me()).user).toMatchObject({ email: 'ada@example.net', email_verified: true })
    expect(await codeOf(confirm(mail.token))).toBe('not_found')

    const told = await box.next()
    expect(told).toMatchObject({ to: 'ada@example.org', kind: 'undo_email' })
    expect(told.text).not.toContain('example.net')
    const { key } = await ada.keys.create({ name: 'of a thief' })
    // A second change does not take the way back away, and gives none to the address in between.
    await confirm((await request(ada, 'thief@example.com')).token)
    await expect.poll(() => sent.at(-1)).toBe('email_changed ada@example.net')
    const pending = await request(ada, 'again@example.com')
    const reset = await service.chat.resets.issue(OPERATOR, { email: 'thief@example.com' })
    await undo(told.token)
    await expect.poll(() => sent.at(-1)).toBe('email_changed thief@example.com')
    expect(await codeOf(confirm(pending.token))).toBe('not_found')
    expect(await codeOf(service.client().resets.redeem({ token: reset.token, password: PASSWORD }))).toBe('not_found')
    expect(await emailOf(ada.id)).toBe('ada@example.org')
    expect(await codeOf(ada.auth.me())).toBe('unauthenticated')
    const bearer = new Headers({ authorization: `Bearer ${key}` })
    expect(await codeOf(service.chat.auth.authenticate(bearer))).toBe('unauthenticated')
    const { entries } = await service.chat.audit.list(OPERATOR, { user_id: ada.id })
    const acts = entries.map(({ act }) => act).filter((act) => act.startsWith('email.'))
    expect(acts.reverse()).toEqual([
      ...['email.change_requested', 'email.changed', 'email.change_requested', 'email.changed'],
      ...['email.change_requested', 'email.change_undone'],
    ])
  })

  it('is undone for 72 hours, and confirmed for a day', async () => {
    const grace = await service.signIn('grace')
    const late = await request(grace, 'grace@example.net')
    now += 24 * 3600 * SECOND + 1
    expect(await codeOf(confirm(late.token))).toBe('not_found')
    await grace.auth.login({ email: 'grace@example.org', password: PASSWORD })
    await confirm((await request(grace, 'grace@example.net')).token)
    const { token } = await box.next()
    now += 72 * 3600 * SECOND
    const other = await service.chat.newcomers.list(OPERATOR)
    expect(other.invites).toEqual([])
    await undo(token)
    expect(await emailOf(grace.id)).toBe('grace@example.org')
  })

  it('is undone by the first address of a chain for 72 hours, and then by that of the next chain', async () => {
    const nick = await service.signIn('nick')
    await confirm((await request(nick, 'nick@example.net')).token)
    expect((await box.next()).to).toBe('nick@example.org')
    now += 72 * 3600 * SECOND + 1
    await nick.auth.login({ email: 'nick@example.net', password: PASSWORD })
    await confirm((await request(nick, 'nick@example.com')).token)
    const undone = await box.next()
    expect(undone).toMatchObject({ kind: 'undo_email', to: 'nick@example.net' })
    await service.chat.users.lockDown(OPERATOR, nick.id)
    expect(await codeOf(undo(undone.token))).toBe('not_found')
  })

  it('is confirmed by one of several simultaneous calls', async () => {
    const { token } = await request(await service.signIn('heidi'), 'heidi@example.net')
    const results = await Promise.allSettled(times(5, () => confirm(token)))
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    await box.next()
  })

  it('mails nothing to an address of another account, with the same response, and takes none', async () => {
    const ivan = await service.signIn('ivan')
    await ivan.emails.requestChange({ email: 'FOUNDER@example.org' })
    const mail = await request(ivan, 'free@example.org')
    expect(mail.to).toBe('free@example.org')
    await service.signIn('free')
    expect(await codeOf(confirm(mail.token))).toBe('not_found')
    expect(await emailOf(ivan.id)).toBe('ivan@example.org')
  })

  it('needs a recent sign-in, and no API key', async () => {
    const judy = await service.signIn('judy')
    const actor = await service.chat.users.actor(judy.id)
    now += 601 * SECOND
    expect(await codeOf(judy.emails.requestChange({ email: 'judy@example.net' }))).toBe('confirmation_required')
    await judy.auth.confirm({ password: PASSWORD })
    await request(judy, 'judy@example.net')
    const byKey = { ...actor, key_id: actor.user_id }
    expect(await codeOf(service.chat.emails.requestChange(byKey, { email: 'x@example.net' }))).toBe('forbidden')
  })

  it('ends with a reset of the password, and with a lockdown', async () => {
    const mia = await service.signIn('mia')
    const first = await request(mia, 'mia@example.net')
    const reset = await service.chat.resets.issue(OPERATOR, { email: mia.email })
    await service.client().resets.redeem({ token: reset.token, password: PASSWORD })
    expect(await codeOf(confirm(first.token))).toBe('not_found')
    await mia.auth.login({ email: mia.email, password: PASSWORD })
    const second = await request(mia, 'mia@example.net')
    await service.chat.users.lockDown(OPERATOR, mia.id)
    expect(await codeOf(confirm(second.token))).toBe('not_found')
  })

  it('makes reset links of the former address invalid, and fills no mailbox', async () => {
    const oscar = await service.signIn('oscar')
    const reset = await service.chat.resets.issue(OPERATOR, { email: oscar.email })
    await confirm((await request(oscar, 'oscar@example.net')).token)
    await box.next()
    expect(await codeOf(service.client().resets.redeem({ token: reset.token, password: PASSWORD }))).toBe('not_found')
    for (const _ of times(4, String)) await request(oscar, 'oscar@example.com')
    expect(await codeOf(oscar.emails.requestChange({ email: 'oscar@example.com' }))).toBe('rate_limited')
  })
})
