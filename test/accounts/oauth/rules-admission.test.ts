import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AdmissionSettings, decideAdmission, findClaim } from '../../../lib/accounts/oauth/rules-admission.ts'
import { OPERATOR, parseConfig } from '../../../lib/index.ts'
import { readFailure } from '../../support/answers.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { startService, type TestService } from '../../support/service.ts'
import { createBrowser, PUBLIC_URL } from './browser.ts'
import { type OpenIdProvider, startOpenId } from './openid.ts'

describe('the rules of a provider', () => {
  const ada = { email: 'Ada@Example.ORG', email_verified: true }
  const isAllowed = (settings: AdmissionSettings, person: object = ada, claims = {}) =>
    decideAdmission(settings, person as typeof ada, claims).refusal === undefined

  it.each<[string, AdmissionSettings, object, boolean]>([
    ['nothing is configured', {}, {}, true],
    ['the domain is listed', { allowed_domains: ['example.org'] }, ada, true],
    ['it is a subdomain', { allowed_domains: ['example.org'] }, { ...ada, email: 'a@sub.example.org' }, false],
    ['it ends like a listed one', { allowed_domains: ['example.org'] }, { ...ada, email: 'a@notexample.org' }, false],
    [
      'the domain is in the local part',
      { allowed_domains: ['example.org'] },
      { ...ada, email: '"@example.org"@evil.net' },
      false,
    ],
    ['the address is not verified', { allowed_domains: ['example.org'] }, { ...ada, email_verified: false }, false],
    ['there is no address', { allowed_domains: ['example.org'] }, { email_verified: true }, false],
    ['the address is listed', { allowed_domains: ['x.net'], allowed_emails: ['ada@example.org'] }, ada, true],
    ['another address is listed', { allowed_emails: ['grace@example.org'] }, ada, false],
    ['an empty list', { allowed_emails: [] }, ada, false],
  ])('by address: %s', (_, settings, person, expected) => {
    expect(isAllowed(settings, person)).toBe(expected)
  })

  it.each<[object, boolean]>([
    [{ groups: ['staff', 'chat'] }, true],
    [{ groups: 'chat' }, true],
    [{ groups: ['chatters'] }, false],
    [{ groups: { chat: true } }, false],
    [{}, false],
  ])('by claim: %j', (claims, expected) => {
    expect(isAllowed({ required_claims: { groups: ['chat', 'ops'] } }, ada, claims)).toBe(expected)
  })

  it('requires all claims, and reads nested ones, numbers and truth values', () => {
    const required_claims = { 'realm_access.roles': 'chat', 'https://example.org/tier': 2, active: true }
    const claims = { realm_access: { roles: ['chat'] }, 'https://example.org/tier': 2, active: true }
    expect(isAllowed({ required_claims }, ada, claims)).toBe(true)
    expect(isAllowed({ required_claims }, ada, { ...claims, active: false })).toBe(false)
    expect(findClaim({ a: 1 }, 'constructor.name')).toBeUndefined()
    expect(findClaim({ a: 'text' }, 'a.length')).toBeUndefined()
  })

  it('gives the highest role whose claims are there', () => {
    const role_claims = { admin: { groups: 'admins' }, read_only: { groups: ['guests'] } }
    const rolesOf = (groups: string[], rules: NonNullable<AdmissionSettings['role_claims']> = role_claims) =>
      decideAdmission({ role_claims: rules }, ada, { groups }).roles
    expect(rolesOf(['guests', 'admins'])).toEqual(['admin', 'member'])
    expect(rolesOf(['guests'])).toEqual(['read_only'])
    expect(rolesOf([])).toEqual(['member'])
    expect(rolesOf([], { member: { groups: 'staff' } })).toEqual(['read_only'])
    expect(rolesOf(['staff'], { member: { groups: 'staff' } })).toEqual(['member'])
    expect(decideAdmission({}, ada, { groups: ['admins'] }).roles).toBeUndefined()
  })

  it.each([
    ['allowed_domains', ['@example.org']],
    ['allowed_domains', 'example.org'],
    ['allowed_emails', ['example.org']],
    ['required_claims', {}],
    ['required_claims', { groups: [] }],
    ['required_claims', { groups: { a: 1 } }],
    ['role_claims', { owner: { groups: 'x' } }],
    ['role_claims', { admin: 'admins' }],
  ])('refuse %s of %j', (key, value) => {
    const provider = { client_id: 'a', client_secret: 'b', issuer: 'https://id.example.org', [key]: value }
    const config = { server: { public_url: PUBLIC_URL }, oauth: { company: provider } }
    expect(() => parseConfig(config as object)).toThrow(`oauth.company.${key}`)
  })
})

describeOnEachDatabase('who may come in through a provider', (openUrl) => {
  let service: TestService
  let company: OpenIdProvider
  const lines: string[] = []

  beforeAll(async () => {
    company = await startOpenId('company', { claimsInToken: true })
    const line = (message: string, fields?: object) => void lines.push(JSON.stringify({ message, ...fields }))
    service = await startService(await openUrl(), {
      config: {
        server: { public_url: PUBLIC_URL },
        security: { password: { bcrypt_cost: 4 } },
        oauth: {
          company: {
            ...company.config,
            allowed_domains: ['example.org'],
            required_claims: { groups: ['chat', 'chat-admins'] },
            role_claims: { admin: { groups: ['chat-admins'] } },
          },
        },
      },
      ports: { log: { debug: line, info: line, warn: line, error: line } },
    })
    await service.signIn('operator')
  })
  afterAll(async () => {
    await service.close()
    company.close()
  })

  async function signIn(login: string, groups: string[], claims: object = {}) {
    company.people.set(login, { groups, ...claims })
    const response = await createBrowser(service.base_url).signIn('company', login)
    return response.status === 200 ? 'in' : (await readFailure(response)).code
  }
  const rolesOf = async (login: string) => (await service.chat.users.find(OPERATOR, login)).roles

  it('admits the members of a group only, each time anew', async () => {
    expect(await signIn('grace', ['chat'])).toBe('in')
    expect(await rolesOf('grace')).toEqual(['member'])
    expect(await signIn('grace', ['other'])).toBe('forbidden')
    expect(await signIn('eve', ['other'])).toBe('forbidden')
    expect(lines.join('\n')).toContain('the claim groups has none of the required values')
    expect(lines.join('\n')).not.toContain('"other"')
    const accounts = await service.chat.users.list(OPERATOR, { query: 'eve' })
    expect(accounts.users).toEqual([])
    expect(await signIn('grace', ['chat'])).toBe('in')
  })

  it('admits verified addresses of the domain only', async () => {
    expect(await signIn('mallory', ['chat'], { email: 'mallory@example.net' })).toBe('forbidden')
    expect(await signIn('mallory', ['chat'], { email_verified: false })).toBe('forbidden')
    expect(await signIn('mallory', ['chat'])).toBe('in')
  })

  it('sets roles by claims at every sign-in', async () => {
    expect(await signIn('ruth', ['chat'])).toBe('in')
    expect(await signIn('ruth', ['chat', 'chat-admins'])).toBe('in')
    expect(await rolesOf('ruth')).toEqual(['admin', 'member'])
    const { users, newcomers } = service.chat
    const ruth = await users.actor((await users.find(OPERATOR, 'ruth')).id)
    await newcomers.invite(ruth, { email: 'friend@example.org', mail: false })
    expect(await signIn('ruth', ['chat'])).toBe('in')
    expect(await rolesOf('ruth')).toEqual(['member'])
    expect((await newcomers.list(OPERATOR)).invites).toEqual([])
    const { entries } = await service.chat.audit.list(OPERATOR, { act: 'user.changed' })
    expect(entries[0]).toMatchObject({ detail: { by: 'company', changed: ['roles'], roles: ['member'] } })
  })

  it('leaves the last administrator the role', async () => {
    expect(await signIn('ruth', ['chat-admins'])).toBe('in')
    const { users } = await service.chat.users.list(OPERATOR)
    for (const { id, username } of users)
      if (username !== 'ruth') await service.chat.users.change(OPERATOR, id, { roles: ['member'] })
    expect(await signIn('ruth', ['chat'])).toBe('in')
    expect(await rolesOf('ruth')).toEqual(['admin', 'member'])
    expect(lines.join('\n')).toContain('The last administrator stays one')
    expect(await signIn('grace', ['chat-admins'])).toBe('in')
    expect(await signIn('ruth', ['chat'])).toBe('in')
    expect(await rolesOf('ruth')).toEqual(['member'])
  })
})
