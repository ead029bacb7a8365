import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { toLink } from '../../../lib/config/links.ts'
import { OPERATOR, parseConfig } from '../../../lib/index.ts'
import { setUpService } from '../../support/describe-service.ts'
import { PASSWORD, startService } from '../../support/service.ts'

const NEW_PASSWORD = 'incorrect pony'

describe('the forms of mailed links', () => {
  const service = setUpService(() => startService('sqlite::memory:', { config, ports }))
  const lines: string[] = []
  const log = (message: string, fields?: object) => void lines.push(JSON.stringify([message, fields]))
  const ports = { log: { debug: log, info: log, warn: log, error: log } }
  const config = { log: { requests: 'all' } }
  beforeAll(async () => {
    await service.signIn('founder')
  })

  const PATH = '/account/reset-password'
  const open = (path: string, init: RequestInit = {}) => fetch(service.base_url + path, { redirect: 'error', ...init })
  const post = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
    open(path, { method: 'POST', body: new URLSearchParams(fields), headers })
  const issue = async (email: string) => (await service.chat.resets.issue(OPERATOR, { email })).token

  it('set a new password; opening the link changes nothing, and no log has the token', async () => {
    const { email } = await service.signIn('ada')
    const token = await issue(email)
    for (const method of ['GET', 'HEAD', 'GET']) {
      const page = await open(`${PATH}?token=${token}`, { method })
      expect(page.status).toBe(200)
      expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(page.headers.get('content-security-policy')).toMatch(
        /^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
      )
      expect(page.headers.get('referrer-policy')).toBe('same-origin')
      expect(page.headers.get('cache-control')).toBe('no-store')
      expect(await page.text()).toContain(method === 'HEAD' ? '' : `name="token" value="${token}"`)
    }
    const done = await post(PATH, { token, password: NEW_PASSWORD })
    expect([done.status, await done.text()]).toEqual([200, expect.stringContaining('Your new password is set')])
    expect(done.headers.getSetCookie()).toEqual([expect.stringContaining('SESSION_ID-DEVICE=')])
    await service.client().auth.login({ email, password: NEW_PASSWORD })
    const again = await post(PATH, { token, password: NEW_PASSWORD })
    expect([again.status, await again.text()]).toEqual([404, expect.stringContaining('expired or was used')])
    expect(lines.filter((line) => line.includes(PATH))).toHaveLength(5)
    expect(lines.join('\n')).not.toContain(token)
  })

  it('keep the link when the password is too short, and say why', async () => {
    const { email } = await service.signIn('grace')
    const token = await issue(email)
    const refused = await post(PATH, { token, password: 'short' })
    expect([refused.status, await refused.text()]).toEqual([422, expect.stringMatching(/role="alert">.*8 characters/)])
    expect((await post(PATH, { token, password: NEW_PASSWORD })).status).toBe(200)
  })

  it('name the field that is refused, and keep what was typed, but for the password', async () => {
    const { token } = await service.chat.newcomers.invite(OPERATOR, { email: 'rita@example.org', mail: false })
    const path = '/account/sign-up'
    const refused = await post(path, { token: token!, username: '"rita"', password: 'short' })
    const text = await refused.text()
    expect([refused.status, text]).toEqual([422, expect.stringMatching(/role="alert">Password: .*8 characters/)])
    expect(text).toMatch(/name="username"[^>]* value="&quot;rita&quot;"/)
    expect(text).not.toContain('short')
    expect((await post(path, { token: token!, username: 'rita', password: NEW_PASSWORD })).status).toBe(200)
  })

  it('ask for the code of the mail when the address has none, and never show what is no token', async () => {
    const text = await (await open(`${PATH}?token=${encodeURIComponent('"><script>')}`)).text()
    expect(text).toContain('Code from the mail')
    expect(text).not.toContain('"><script>')
    expect(text.match(/<script>/g)).toHaveLength(1)
    const { email } = await service.signIn('heidi')
    expect((await post(PATH, { token: ` ${await issue(email)} `, password: NEW_PASSWORD })).status).toBe(200)
    const echoed = await (await post(PATH, { token: '"><script>', password: 'x' })).text()
    expect(echoed).not.toContain('"><script>')
    expect(echoed.match(/<script>/g)).toHaveLength(1)
  })

  it('refuse a page of another site, other methods, other bodies and large ones', async () => {
    const { email } = await service.signIn('ivan')
    const fields = { token: await issue(email), password: NEW_PASSWORD }
    expect((await post(PATH, fields, { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    expect((await post(PATH, fields, { origin: 'https://evil.example' })).status).toBe(403)
    expect((await open(PATH, { method: 'PUT' })).status).toBe(405)
    const json = { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } }
    expect((await open(PATH, json)).status).toBe(415)
    expect((await post(PATH, { ...fields, more: 'x'.repeat(20_000) })).status).toBe(413)
    await service.client().auth.login({ email, password: PASSWORD })
    // Any page can send it, with a policy of no referrer.
    expect((await post(PATH, fields, { origin: 'null' })).status).toBe(403)
    expect((await post(PATH, fields, { origin: service.base_url })).status).toBe(200)
  })

  it('confirm an address', async () => {
    let token = ''
    const mailing = await startService('sqlite::memory:', {
      config,
      ports: {
        mail(mail) {
          if (mail.token) token = mail.token
        },
      },
    })
    await mailing.signIn('founder')
    const { user } = await mailing.chat.users.create(OPERATOR, {
      username: 'judy',
      email: 'judy@example.org',
      password: PASSWORD,
      email_verified: false,
    })
    await mailing.chat.emails.sendVerification(await mailing.chat.users.actor(user.id))
    await expect.poll(() => token, { timeout: 30_000 }).not.toBe('')
    const url = `${mailing.base_url}/account/verify-email`
    const page = await fetch(url, { method: 'POST', body: new URLSearchParams({ token }) })
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('is confirmed')])
    expect((await mailing.chat.users.find(OPERATOR, 'judy')).email_verified).toBe(true)
    await mailing.close()
  })

  it('confirm a change of the address, and undo it; a used or unknown token gets a page', async () => {
    const tokens: Record<string, string> = {}
    const mailing = await startService('sqlite::memory:', {
      ports: {
        mail({ kind, token }) {
          tokens[kind] = token
        },
      },
    })
    onTestFinished(mailing.close)
    const mia = await mailing.signIn('mia')
    const emailOf = async () => (await mailing.chat.users.find(OPERATOR, mia.id)).email
    const formOf = async (name: string, token: string, method: string) => {
      const url = `${mailing.base_url}/account/${name}`
      const body = new URLSearchParams({ token })
      const page = await (method === 'GET' ? fetch(`${url}?${body}`) : fetch(url, { method, body }))
      expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
      return [page.status, /role="status">([^<]*)/.exec(await page.text())?.[1]]
    }
    const worthless = [404, 'This link has expired or was used: ask for a new one.']

    await mia.emails.requestChange({ email: 'mia@example.net' })
    await expect.poll(() => tokens.change_email, { timeout: 30_000 }).toBeDefined()
    const confirm = (method: string) => formOf('confirm-email', tokens.change_email!, method)
    expect(await confirm('GET')).toEqual([200, undefined])
    expect(await emailOf()).toBe('mia@example.org')
    expect(await confirm('POST')).toEqual([200, 'Your account has this e-mail address now.'])
    expect(await emailOf()).toBe('mia@example.net')
    expect(await confirm('POST')).toEqual(worthless)

    await expect.poll(() => tokens.undo_email, { timeout: 30_000 }).toBeDefined()
    const undo = (method: string) => formOf('undo-email', tokens.undo_email!, method)
    expect(await undo('GET')).toEqual([200, undefined])
    expect(await emailOf()).toBe('mia@example.net')
    expect((await undo('POST'))[0]).toBe(200)
    expect(await emailOf()).toBe('mia@example.org')
    expect(await undo('POST')).toEqual(worthless)
    for (const name of ['confirm-email', 'undo-email']) expect(await formOf(name, 'x', 'POST')).toEqual(worthless)
  })

  it('count as sign-ins', async () => {
    const limited = await startService('sqlite::memory:', {
      config: { rate_limits: { auth_login_per_ip_per_min: 2 } },
    })
    const statuses = []
    for (let i = 0; i < 4; i++) {
      const body = new URLSearchParams({ token: 'x', password: NEW_PASSWORD })
      statuses.push((await fetch(limited.base_url + PATH, { method: 'POST', body })).status)
    }
    expect(statuses).toEqual([404, 404, 429, 429])
    await limited.close()
  })

  it('are not served where a page is configured, nor with a login of the host', async () => {
    const links = { reset_password: 'https://app.example.org/#reset={token}' }
    const own = await startService('sqlite::memory:', { config: { links } })
    const host = await startService('sqlite::memory:', { ports: { identity: () => undefined } })
    expect((await fetch(own.base_url + PATH)).status).toBe(404)
    expect((await fetch(`${own.base_url}/account/verify-email`)).status).toBe(200)
    expect((await fetch(host.base_url + PATH)).status).toBe(404)
    await Promise.all([own.close(), host.close()])
  })
})

describe('links.*', () => {
  it.each([
    ['https://app.example.org/reset?token={token}', 'https://app.example.org/reset?token=abc'],
    ['http://localhost:3000/#/reset/{token}', 'http://localhost:3000/#/reset/abc'],
  ])('%s', (reset_password, expected) => {
    expect(toLink(parseConfig({ links: { reset_password } }), 'reset_password', 'abc')).toBe(expected)
  })

  it.each([
    'https://app.example.org/reset',
    'https://app.example.org/{token}/{token}',
    'https://app.example.org/{token}?{other}',
    'https://{token}.example.org/',
    'javascript:alert({token})',
    'https://u:p@app.example.org/{token}',
    'https://app.example.org/{token}\r\nBcc:',
    `https://app.example.org/{token}${'x'.repeat(3000)}`,
  ])('refuses %j', (reset_password) => {
    expect(() => parseConfig({ links: { reset_password } })).toThrow('links.reset_password: must be')
  })

  it('default to the forms, under the path of server.public_url', () => {
    const config = parseConfig({ server: { public_url: 'https://example.org/chat/' } })
    expect(toLink(config, 'verify_email', 'abc')).toBe('https://example.org/chat/account/verify-email#token=abc')
    expect(toLink(parseConfig(), 'verify_email', 'abc')).toBeUndefined()
  })

  it.each([
    ['reset_password', 'reset'],
    ['verify_email', 'verify'],
    ['change_email', 'change-email'],
    ['undo_email', 'undo'],
    ['conversation_invite', 'join'],
    ['invite', 'welcome'],
  ] as const)('has the screen of the web chat for %s while it is served', (link, screen) => {
    const server = { public_url: 'https://example.org/chat', web: true }
    expect(toLink(parseConfig({ server }), link, 'abc')).toBe(`https://example.org/chat/#/${screen}/abc`)
    const own = parseConfig({ server, links: { [link]: 'https://own.test/{token}' } })
    expect(toLink(own, link, 'abc')).toBe('https://own.test/abc')
    expect(toLink(parseConfig({ server: { web: true } }), link, 'abc')).toBeUndefined()
  })
})
