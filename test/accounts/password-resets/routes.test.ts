import { beforeAll, expect, it } from 'vitest'
import { insertIdentity } from '../../../lib/accounts/identities/store.ts'
import { toAttemptKey } from '../../../lib/accounts/passwords/store.ts'
import { digest } from '../../../lib/core/ids.ts'
import { toInstant } from '../../../lib/core/time.ts'
import { SECOND } from '../../../lib/core/units.ts'
import type { Mail } from '../../../lib/index.ts'
import { OPERATOR } from '../../../lib/index.ts'
import { type Sql, sql, statement } from '../../../lib/storage/sql.ts'
import { checkedFetch } from '../../support/answers.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpNodes } from '../../support/describe-service.ts'
import { createMailbox } from '../../support/mailbox.ts'
import { codeOf, innerState, PASSWORD, startService, times } from '../../support/service.ts'
import { openStream, signInByHand } from '../../support/stream.ts'

const NEW_PASSWORD = 'incorrect pony'

describeOnEachDatabase('a forgotten password', (openUrl) => {
  const [service, node] = setUpNodes(async () => {
    url = await openUrl()
    const config = { server: { public_url: 'https://chat.example.org' } }
    const ports = { now: () => now, mail: box.deliver }
    return [await startService(url, { config, ports }), await startService(url, { config, ports })]
  })
  let url: string
  let now = Date.UTC(2026, 0, 1) * 1000
  const box = createMailbox()
  beforeAll(async () => {
    await service.signIn('founder')
  })

  const forgot = async (email: string): Promise<Mail> => {
    await service.client().resets.request({ email })
    return box.next()
  }
  const reset = (token: string, password = NEW_PASSWORD) => service.client().resets.redeem({ token, password })
  const rows = (sql: string, ...params: string[]) => innerState(service).db.all(statement(sql, params))

  it('is replaced with a mailed token, once; all sessions, keys and streams end, and only the browser of the reset is known', async () => {
    const ada = await service.signIn('ada')
    const stream = await openStream(
      service.base_url,
      undefined,
      await signInByHand(service.base_url, ada.email, PASSWORD),
    )
    await stream.until('stream.ready')
    const { key } = await ada.keys.create({ name: 'a bot' })
    const bot = await openStream(service.base_url, undefined, { authorization: `Bearer ${key}` })
    await bot.until('stream.ready')
    const mail = await forgot(' ADA@example.org ')
    expect(mail).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      kind: 'reset_password',
      to: 'ada@example.org',
      subject: 'Set a new password',
      text: expect.stringContaining(`https://chat.example.org/account/reset-password#token=${mail.token}\n`),
      token: expect.stringMatching(/^[\w-]{43}$/),
    })
    await reset(mail.token)
    expect((await stream.until('stream.closed')).at(-1)!.event.payload).toEqual({ reason: 'session_ended' })
    expect((await bot.until('stream.closed')).at(-1)!.event.payload).toEqual({ reason: 'session_ended' })
    expect(await rows('SELECT token_hash FROM known_devices WHERE user_id = ?', ada.id)).toHaveLength(1)
    expect(await codeOf(service.chat.auth.authenticate(new Headers({ authorization: `Bearer ${key}` })))).toBe(
      'unauthenticated',
    )
    expect(await codeOf(ada.auth.me())).toBe('unauthenticated')
    expect(await codeOf(ada.auth.login({ email: ada.email, password: PASSWORD }))).toBe('invalid_credentials')
    await ada.auth.login({ email: ada.email, password: NEW_PASSWORD })
    expect(await codeOf(reset(mail.token))).toBe('not_found')
    const acts = "SELECT act, subject_id, ip FROM audit_log WHERE act LIKE 'password.reset%' ORDER BY id"
    expect(await rows(acts)).toEqual(
      ['password.reset_requested', 'password.reset'].map((act) => ({ act, subject_id: ada.id, ip: '127.0.0.1' })),
    )
  })

  it('gets the same response for an unknown address, and nothing is mailed or stored', async () => {
    const { user } = await service.chat.users.create(OPERATOR, { username: 'off', email: 'off@example.org' })
    await innerState(service).db.write((tx) => tx.run(sql`UPDATE users SET disabled_at = 1 WHERE id = ${user.id}`))
    for (const email of ['nobody@example.org', 'off@example.org', 'no address', "' OR 1=1--", ''])
      expect(await service.client().resets.request({ email })).toBeUndefined()
    // Mails are sent in order: one to a known address would follow any to an unknown one.
    expect((await forgot('founder@example.org')).to).toBe('founder@example.org')
    expect(box.size()).toBe(0)
    const log = JSON.stringify(await rows('SELECT * FROM audit_log'))
    expect(log).not.toContain('nobody@')
    const pending = 'SELECT token_hash FROM password_resets WHERE user_id = ?'
    expect(await rows(pending, user.id)).toEqual([])
  })

  it('is replaced within an hour, to the instant, with any of the mailed tokens', async () => {
    await service.signIn('grace')
    const { token } = await forgot('grace@example.org')
    // A stranger can request more of them, and invalidates none.
    const others = [await forgot('grace@example.org'), await forgot('grace@example.org')]
    now += 3600 * SECOND
    await reset(token)
    for (const other of others) expect(await codeOf(reset(other.token))).toBe('not_found')
    const late = await forgot('grace@example.org')
    now += 3600 * SECOND + 1
    expect(await codeOf(reset(late.token))).toBe('not_found')
    for (const madeUp of ['', 'x', 'x'.repeat(43), late.token.toLowerCase()])
      expect(await codeOf(reset(madeUp))).toBe('not_found')
  })

  it('is replaced by one of several callers with the same token, on two nodes', async () => {
    await service.signIn('heidi')
    const { token } = await forgot('heidi@example.org')
    const results = await Promise.allSettled(
      times(10, (index) =>
        [service, node][index % 2]!.chat.resets.redeem({}, { token, password: `${NEW_PASSWORD} ${index}` }),
      ),
    )
    expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1)
  })

  it('keeps the API keys on request', async () => {
    const { email, ...mia } = await service.signIn('mia')
    const { key } = await mia.keys.create({ name: 'a bot' })
    const { token } = await forgot(email)
    await service.client().resets.redeem({ token, password: NEW_PASSWORD, keep_keys: true })
    const actor = await service.chat.auth.authenticate(new Headers({ authorization: `Bearer ${key}` }))
    expect(actor.user_id).toBe(mia.id)
  })

  it('ends identities and invites of a user who had not verified the address, and no others', async () => {
    for (const email_verified of [false, true]) {
      const username = `proven-${email_verified}`
      const email = `${username}@example.org`
      const { user } = await service.chat.users.create(OPERATOR, {
        username,
        email,
        email_verified,
        password: PASSWORD,
      })
      const squatter = service.client()
      await squatter.auth.login({ email, password: PASSWORD })
      const { conversation_id } = await squatter.conversations.create({})
      await squatter.invites.create(conversation_id, {})
      const context = innerState(service)
      const linked = { provider: 'p', issuer: 'https://p.example', subject: username, user_id: user.id, created_at: 1 }
      await context.write((tx) => insertIdentity(tx, { ...linked, id: context.id() }))
      await reset((await forgot(email)).token)
      const left = email_verified ? 1 : 0
      expect(await rows('SELECT id FROM identities WHERE user_id = ?', user.id)).toHaveLength(left)
      const open = 'SELECT id FROM invites WHERE created_by = ? AND revoked_at IS NULL'
      expect(await rows(open, user.id)).toHaveLength(left)
    }
  })

  it('gets no valid link for an account whose address is changed at the same moment', async () => {
    const { id, email } = await service.signIn('moving')
    let change: (() => Promise<unknown>) | undefined
    const moving = await startService(url, {
      ports: { now: () => now, mail: box.deliver },
      wrap: ({ db, ...storage }) => ({
        ...storage,
        db: {
          ...db,
          async get<T>(sql: Sql) {
            const row = await db.get<T>(sql)
            if (sql.text.includes('WHERE email_key')) await change?.()
            return row
          },
        },
      }),
    })
    change = () => service.chat.users.change(OPERATOR, id, { email: 'moved@example.org' })
    await moving.chat.resets.request({}, { email })
    expect(await rows('SELECT token_hash FROM password_resets WHERE user_id = ?', id)).toEqual([])
    change = undefined
    await moving.close()
    expect((await forgot('moved@example.org')).to).toBe('moved@example.org')
  })

  it('lets its owner sign in while others guess: failures are cleared, and the browser is known', async () => {
    const { id, email } = await service.signIn('target')
    const login = (password: string, device?: string) =>
      codeOf(service.chat.auth.login({ device }, { email, password }).then(() => Promise.reject({ code: 'signed in' })))
    const guess = async () => {
      expect(await login('wrong password')).toBe('invalid_credentials')
      now += 900 * SECOND
    }
    for (let i = 0; i < 9; i++) expect(await login('wrong password')).toBe('invalid_credentials')
    for (let i = 0; i < 8; i++) await guess()
    expect(await login('wrong password')).toBe('invalid_credentials')
    expect(await login(PASSWORD)).toBe('rate_limited')
    const failures = () => rows('SELECT 1 AS one FROM login_failures WHERE account = ?', toAttemptKey(email, undefined))
    expect(await failures()).toHaveLength(1)

    const { token } = await service.chat.resets.issue(OPERATOR, { email })
    const response = await checkedFetch(`${service.base_url}/api/auth/reset`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token, password: NEW_PASSWORD }),
    })
    const cookies = response.headers.getSetCookie()
    expect(cookies).toEqual([expect.stringMatching(/^SESSION_ID-DEVICE=[\w-]{43}; .*HttpOnly/)])
    const device = /=([\w-]+)/.exec(cookies[0]!)![1]!
    expect(await failures()).toEqual([])
    expect(await login(NEW_PASSWORD)).toBe('signed in')

    for (let i = 0; i < 9; i++) expect(await login('wrong password')).toBe('invalid_credentials')
    for (let i = 0; i < 8; i++) {
      await guess()
      expect(await login(NEW_PASSWORD, device)).toBe('signed in')
    }
    expect(
      await rows('SELECT 1 AS one FROM known_devices WHERE user_id = ? AND token_hash = ?', id, digest(device)),
    ).toHaveLength(1)
  })

  it('has a limited number of valid tokens', async () => {
    const { id, email } = await service.signIn('many')
    const first = await service.chat.resets.issue(OPERATOR, { email })
    now += SECOND
    for (const _ of times(32, String)) await service.chat.resets.issue(OPERATOR, { email })
    expect(await rows('SELECT 1 AS one FROM password_resets WHERE user_id = ?', id)).toHaveLength(32)
    expect(await codeOf(reset(first.token))).toBe('not_found')
  })

  it('is replaced once when several tokens are used at once', async () => {
    const { id } = await service.signIn('ivan')
    const mails: Mail[] = []
    for (const _ of times(5, String)) mails.push(await forgot('ivan@example.org'))
    const results = await Promise.allSettled(mails.map(({ token }) => reset(token)))
    expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1)
    expect(await rows('SELECT * FROM password_resets WHERE user_id = ?', id)).toEqual([])
  })

  it('fills no mailbox: five mails at once, then one in five minutes, and sent links stay valid', async () => {
    const { email } = await service.signIn('flooded')
    const ask = (address: string, asked = service) => asked.client().resets.request({ email: address })
    const mails: Mail[] = []
    for (const _ of times(5, String)) mails.push(await forgot(email))
    for (const each of [service, node]) for (const address of [email, ' FLOODED@example.org']) await ask(address, each)
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(box.size()).toBe(0)
    await reset(mails[0]!.token)
    now += 300 * SECOND
    await forgot(email)
    const unknown = () => rows("SELECT id FROM audit_log WHERE act = 'password.reset_requested' AND subject_id IS NULL")
    const before = (await unknown()).length
    // An unknown address is counted like any other, so that responses do not differ.
    for (const _ of times(8, String)) await ask('nobody-at-all@example.org')
    expect((await unknown()).length - before).toBe(5)
  })

  it('uses up no token for an invalid password, and all of them for a changed one', async () => {
    const judy = await service.signIn('judy')
    const { token } = await forgot(judy.email)
    expect(await codeOf(reset(token, 'short'))).toBe('validation_failed')
    await judy.auth.changePassword({ current_password: PASSWORD, new_password: NEW_PASSWORD })
    expect(await codeOf(reset(token))).toBe('not_found')
  })

  it('can be the first password of an account, but not of one disabled meanwhile', async () => {
    const { user } = await service.chat.users.create(OPERATOR, { username: 'kim', email: 'kim@example.org' })
    await reset((await forgot('kim@example.org')).token)
    await service.client().auth.login({ email: 'kim@example.org', password: NEW_PASSWORD })
    const { token } = await forgot('kim@example.org')
    await innerState(service).db.write((tx) => tx.run(sql`UPDATE users SET disabled_at = 1 WHERE id = ${user.id}`))
    expect(await codeOf(reset(token))).toBe('not_found')
  })

  it('is replaced with a link that an administrator delivers', async () => {
    const liz = await service.signIn('liz')
    const { token, url, expires_at } = await service.chat.resets.issue(OPERATOR, { email: liz.email })
    expect(url).toBe(`https://chat.example.org/account/reset-password#token=${token}`)
    expect(expires_at).toBe(toInstant(now + 3600 * SECOND))
    await reset(token)
    const actor = await service.chat.users.actor(liz.id)
    expect(await codeOf(service.chat.resets.issue(actor, { email: liz.email }))).toBe('forbidden')
    expect(await codeOf(service.chat.resets.issue(OPERATOR, { email: 'nobody@example.org' }))).toBe('not_found')
  })

  it('gets the same response when mail fails, and the log has the error without the token', async () => {
    for (const throwAt of ['at once', 'later']) {
      const logged = createMailbox()
      const lines: string[] = []
      let token = ''
      const say = (message: string, fields?: object) => {
        lines.push(JSON.stringify([message, fields]))
        if (message.includes('mail'))
          logged.deliver({ id: '', kind: '', to: '', subject: message, text: '', token: 'a line of the log' })
      }
      // On a database of its own: another process that shares it would send the mail.
      const broken = await startService(await openUrl(), {
        ports: {
          log: { debug: say, info: say, warn: say, error: say },
          mail(mail) {
            token = mail.token
            const error = new Error(`550 refused: ${mail.text}`)
            if (throwAt === 'at once') throw error
            return Promise.reject(error)
          },
        },
      })
      // An address each: the next mail to one whose mail has just failed waits for half a minute.
      const email = `refused.${throwAt.replace(' ', '.')}@example.org`
      await broken.chat.setup.run({ email: 'root@example.org', password: 'correct horse battery' })
      await broken.chat.users.create(OPERATOR, { username: email.split('@')[0]!, email })
      await broken.client().resets.request({ email })
      await logged.next()
      expect(token).toMatch(/^[\w-]{43}$/)
      expect(lines.join('\n')).toContain('550 refused')
      expect(lines.join('\n')).not.toContain(token)
      await broken.chat.mails.drop(OPERATOR)
      await broken.close()
    }
  })

  it('gets the same response without configured mail, and the log has a warning', async () => {
    const lines: string[] = []
    const say = (message: string) => void lines.push(message)
    const silent = await startService(url, { ports: { log: { debug: say, info: say, warn: say, error: say } } })
    for (const email of ['founder@example.org', 'nobody@example.org']) await silent.client().resets.request({ email })
    expect(lines).toEqual(Array(2).fill('A password reset was requested, but no mail is configured'))
    await silent.close()
  })
})
