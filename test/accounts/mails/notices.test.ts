import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Mail, OPERATOR } from '../../../lib/index.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { codeOf, PASSWORD, startService, type TestService, times } from '../../support/service.ts'
import { createBrowser, PUBLIC_URL } from '../oauth/browser.ts'
import { type PlainProvider, returnFrom, startPlain } from '../oauth/plain.ts'

describeOnEachDatabase('notices to the owner of an account', (openUrl) => {
  let service: TestService
  let provider: PlainProvider
  let send: (mail: Mail) => Promise<void>
  const lines: string[] = []
  const log = (message: string, fields?: object) => void lines.push(JSON.stringify({ message, ...fields }))
  beforeAll(async () => {
    const ports = { mail: (mail: Mail) => send(mail), log: { debug: log, info: log, warn: log, error: log } }
    provider = await startPlain()
    const config = {
      server: { public_url: PUBLIC_URL },
      oauth: { plain: provider.plain, link_verified_email: true },
    }
    service = await startService(await openUrl(), { config, ports })
    await service.signIn('founder')
  })
  afterAll(async () => {
    await service.close()
    provider.close()
  })

  /** The next mail. */
  const nextMail = () =>
    new Promise<Mail>((resolve) => {
      send = async (mail) => resolve(mail)
    })

  it('report a new key and a changed password, without a secret', async () => {
    const ada = await service.signIn('ada')
    let mail = nextMail()
    const { key } = await ada.keys.create({ name: 'the name of a key' })
    expect(await mail).toMatchObject({ to: ada.email, subject: 'A new API key for your account', token: '' })
    expect(JSON.stringify(await mail)).not.toMatch(`${key}|the name of a key`)

    mail = nextMail()
    await ada.auth.changePassword({ current_password: PASSWORD, new_password: 'incorrect pony' })
    expect(await mail).toMatchObject({ to: ada.email, subject: 'The password of your account was changed' })
    expect(JSON.stringify(await mail)).not.toContain('incorrect pony')

    mail = nextMail()
    await service.chat.users.change(OPERATOR, ada.id, { password: 'another horse' })
    expect((await mail).to).toBe(ada.email)

    const { token } = await service.chat.resets.issue(OPERATOR, { email: ada.email })
    mail = nextMail()
    await ada.resets.redeem({ token, password: 'a third horse' })
    expect(await mail).toMatchObject({ to: ada.email, subject: 'The password of your account was changed' })

    mail = nextMail()
    await service.chat.users.change(OPERATOR, ada.id, { email: 'ada@example.net' })
    expect(await mail).toMatchObject({ to: ada.email, subject: 'The e-mail address of your account was changed' })
    expect((await mail).text).not.toContain('example.net')
  })

  it('report a provider linked by the user or by the same address, and no other sign-in', async () => {
    const mails: Mail[] = []
    let told = () => {}
    const mailed = (count: number) =>
      new Promise<Mail[]>((resolve) => {
        told = () => mails.length >= count && resolve(mails)
        told()
      })
    send = async (mail) => {
      mails.push(mail)
      told()
    }
    const linus = await service.signIn('linus')
    const subject = 'A new way to sign in to your account'
    const browser = createBrowser(service.base_url)
    const signIn = async (user: object, query = {}) => {
      provider.answers['/user'] = user
      return (await browser.ask(returnFrom(await browser.begin('plain', query)))).status
    }
    const credentials = { email: linus.email, password: PASSWORD }
    const headers = { 'content-type': 'application/json' }
    await browser.ask('/api/auth/login', { method: 'POST', headers, body: JSON.stringify(credentials) })

    const elsewhere = { id: 7, email: 'canary@elsewhere.example' }
    expect(await signIn(elsewhere, { link: 'true' })).toBe(303)
    expect((await mailed(1))[0]).toMatchObject({ to: linus.email, subject, token: '' })
    // An existing link and a new user cause no notice.
    expect(await signIn(elsewhere, { link: 'true' })).toBe(303)
    expect(await signIn(elsewhere)).toBe(303)
    expect(await signIn({ id: 8, email: 'new@example.org', email_verified: true })).toBe(303)
    expect(await signIn({ id: 9, email: linus.email, email_verified: true })).toBe(303)
    expect((await mailed(2))[1]).toMatchObject({ to: linus.email, subject })

    await linus.keys.create({ name: 'the last' })
    expect((await mailed(3)).map((mail) => [mail.to, mail.subject])).toEqual([
      [linus.email, subject],
      [linus.email, subject],
      [linus.email, 'A new API key for your account'],
    ])
    expect(JSON.stringify(mails)).not.toContain('canary')
  })

  it('fill no mailbox, and log no mail that failed to be sent', async () => {
    const actor = await service.chat.users.actor((await service.signIn('grace')).id)
    let count = 0
    const failed = new Promise<void>((resolve) => {
      send = async ({ text }) => {
        if (++count === 10) resolve()
        throw new Error(`canary: could not send ${text}`)
      }
    })
    for (const index of times(15, (n) => n)) await service.chat.keys.create(actor, { name: `key ${index}` })
    await failed
    await expect.poll(() => lines.filter((line) => line.includes('could not be sent')).length).toBe(10)
    expect(count).toBe(10)
    expect(lines.join('\n')).not.toContain('canary')
  })

  it('limit how many keys and profile changes a user can make', async () => {
    const dora = await service.signIn('dora')
    const changes = await Promise.allSettled(times(40, (n) => dora.auth.changeProfile({ display_name: `Dora ${n}` })))
    expect(changes.filter(({ status }) => status === 'fulfilled')).toHaveLength(30)
    expect(await codeOf(dora.auth.changeProfile({ display_name: 'Dora' }))).toBe('rate_limited')
  })
})
