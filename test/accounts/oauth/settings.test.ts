import { expect, it } from 'vitest'
import { sql } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { innerState, startService } from '../../support/service.ts'
import { createBrowser, PUBLIC_URL } from './browser.ts'
import { returnFrom, startPlain } from './plain.ts'

describeOnEachDatabase('settings of sign-in through providers', (openUrl) => {
  async function start(oauth: object) {
    const provider = await startPlain()
    const config = { server: { public_url: PUBLIC_URL }, oauth: { plain: provider.plain, ...oauth } }
    const service = await startService(await openUrl(), { config })
    await service.signIn('admin')
    const signIn = async (user: object) => {
      provider.answers['/user'] = user
      const browser = createBrowser(service.base_url)
      const response = await browser.ask(returnFrom(await browser.begin('plain')), {
        headers: { accept: 'application/json' },
      })
      const body = (await response.json()) as { code?: string; user?: { username: string } }
      return body.code ?? body.user?.username
    }
    const close = async () => {
      await service.close()
      provider.close()
    }
    return { service, signIn, close }
  }

  it('creates no new user without allow_signup', async () => {
    const { signIn, close } = await start({ allow_signup: false })
    expect(await signIn({ id: 1, email: 'new@example.org' })).toBe('signup_disabled')
    expect(await signIn({ id: 1, email: 'admin@example.org' })).toBe('email_taken')
    await close()
  })

  it('gives access to the account of a verified address with link_verified_email', async () => {
    const { service, signIn, close } = await start({ link_verified_email: true, allow_signup: false })
    expect(await signIn({ id: 1, email: 'admin@example.org' })).toBe('email_taken')
    expect(await signIn({ id: 1, email: 'admin@example.org', email_verified: 'yes' })).toBe('email_taken')
    expect(await signIn({ id: 1, email: 'Admin@example.org', email_verified: true })).toBe('admin')
    expect(await signIn({ id: 1, email: 'elsewhere@example.org' })).toBe('admin')
    await service.signIn('former')
    await innerState(service).db.write((tx) => tx.run(sql`UPDATE users SET disabled_at = 1 WHERE username = 'former'`))
    expect(await signIn({ id: 2, email: 'former@example.org', email_verified: true })).toBe('account_disabled')
    await close()
  })

  it('disables manual code entry with a public HTTPS address', async () => {
    const { service, close } = await start({})
    const response = await createBrowser(service.base_url).ask('/api/oauth/plain/manual', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"auth_code":"x"}',
    })
    expect(response.status).toBe(404)
    await close()
  })

  it('sends the client secret to no other site from discovery, unless it is configured', async () => {
    const provider = await startPlain()
    const document = provider.answers['/.well-known/openid-configuration'] as object
    provider.answers['/.well-known/openid-configuration'] = {
      ...document,
      token_endpoint: 'https://token.example/token',
    }
    const openid = { issuer: provider.url, client_id: 'c', client_secret: 's' }
    const allowed = { ...openid, token_hosts: ['token.example'] }
    const { service, close } = await start({
      openid,
      allowed,
      known: { ...openid, token_url: `${provider.url}/token` },
    })
    const begin = async (provider: string) =>
      (await createBrowser(service.base_url).ask(`/api/oauth/${provider}`)).status
    expect([await begin('openid'), await begin('allowed'), await begin('known')]).toEqual([502, 200, 200])
    await close()
    provider.close()
  })

  it('finds a username for every person', async () => {
    const { signIn, close } = await start({})
    const names = []
    for (let id = 1; id <= 11; id++) names.push(await signIn({ id, login: 'admin', email: `admin-${id}@example.org` }))
    expect(names.slice(0, 8)).toEqual([
      'admin-2',
      'admin-3',
      'admin-4',
      'admin-5',
      'admin-6',
      'admin-7',
      'admin-8',
      'admin-9',
    ])
    for (const name of names.slice(8)) expect(name).toMatch(/^admin-[0-9a-f]{7}$/)
    await close()
  })
})

it('sets a cookie that no neighbouring host can set when HTTPS is used', async () => {
  const provider = await startPlain()
  const config = {
    server: { public_url: PUBLIC_URL },
    security: { cookie: { secure: true, domain: 'example.org' }, password: { bcrypt_cost: 4 } },
    oauth: { plain: provider.plain },
  }
  const service = await startService('sqlite::memory:', { config })
  await service.chat.setup.run({ email: 'admin@example.org', password: 'correct horse battery' })
  const response = await createBrowser(service.base_url).ask('/api/oauth/plain')
  expect(response.headers.getSetCookie()).toEqual([
    expect.stringMatching(/^__Host-OAUTH_BINDING=[\w-.]{87}; Path=\/; Max-Age=600; Secure; HttpOnly; SameSite=Lax$/),
  ])
  await service.close()
  provider.close()
})
