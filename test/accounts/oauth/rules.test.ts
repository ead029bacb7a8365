import { describe, expect, it } from 'vitest'
import { githubClaims, toPerson } from '../../../lib/accounts/oauth/person.ts'
import { numberedUsername, readBinding, usernameFrom } from '../../../lib/accounts/oauth/rules.ts'
import { Username } from '../../../lib/accounts/users/schema.ts'
import { parseInput } from '../../../lib/core/use-case.ts'

describe('a username', () => {
  it.each([
    [['ada'], 'ada'],
    [[undefined, '', ' ', '\u200b', 'ada'], 'ada'],
    [['ada@example.org', 'Ada Lovelace'], 'ada'],
    [['@example.org', 'Ada Lovelace'], 'Ada Lovelace'],
    [['  Ada\r\nLovelace\u0000 '], 'Ada  Lovelace'],
    [['A\u030Ada'], '\u00C5da'],
    [['x'.repeat(100)], 'x'.repeat(56)],
    [[`${'x'.repeat(55)}\u{1F600}`], 'x'.repeat(55)],
    [['All', 'ａｌｌ@example.org', 'here', 'Ada'], 'Ada'],
    [['Everyone'], 'user'],
    [[], 'user'],
  ])('from %j is %j', (wishes, name) => {
    expect(usernameFrom(wishes)).toBe(name)
    for (const n of [1, 2, 9])
      expect(parseInput(Username, numberedUsername(name, n))).toBe(n === 1 ? name : `${name}-${n}`)
  })
})

describe('a binding', () => {
  const [secret, state] = ['s'.repeat(43), 't'.repeat(43)]
  it('contains a secret and a state', () => {
    expect(readBinding(`${secret}.${state}`)).toEqual({ secret, state })
  })
  it.each([
    undefined,
    '',
    secret,
    `${secret}.`,
    `${secret}.${state}x`,
    `${secret}.${state}.${state}`,
    `"${secret}.${state}"`,
  ])('is not %j', (cookie) => {
    expect(readBinding(cookie)).toBeUndefined()
  })
})

describe('a person', () => {
  const person = (claims: Record<string, unknown>) => toPerson({ name: 'p' }, 'https://issuer', claims)

  it('has the well-formed claims only', () => {
    expect(
      person({
        sub: 'a',
        email: 'ada@example.org',
        email_verified: true,
        name: 'Ada',
        preferred_username: 'ada',
        nickname: 5,
      }),
    ).toEqual({
      provider: 'p',
      issuer: 'https://issuer',
      subject: 'a',
      email: 'ada@example.org',
      email_verified: true,
      display_name: 'Ada',
      names: ['ada', 'Ada'],
      admission: {},
    })
    const odd = { sub: 'a', email: ['ada@example.org'], email_verified: 1, name: 'a\nb', login: '\ud800' }
    expect(person(odd)).toMatchObject({ subject: 'a', email_verified: false, names: ['a\nb'] })
    expect(Object.keys(person(odd))).not.toContain('email')
    expect(Object.keys(person(odd))).not.toContain('display_name')
  })

  it.each([
    [{ sub: 'a', id: 'b' }, 'a'],
    [{ id: 'b' }, 'b'],
    [{ id: 0 }, '0'],
    [{ id: 583_231 }, '583231'],
  ])('of %j has the subject %s', (claims, subject) => {
    expect(person(claims).subject).toBe(subject)
  })

  it.each([
    [{}],
    [{ sub: '' }],
    [{ sub: null, id: 1.5 }],
    [{ id: 2 ** 60 }],
    [{ sub: 'x'.repeat(256) }],
    [{ sub: {} }],
  ])('cannot be made of %j', (claims) => {
    expect(() => person(claims)).toThrow()
  })

  it('of GitHub has the primary address only if it is verified', () => {
    const emails = (verified: boolean) => [{ email: 'a@example.org', primary: true, verified, visibility: null }]
    const user = { id: 1, login: 'ada', name: null, email: 'shown@example.org' }
    expect(githubClaims(user, emails(true))).toMatchObject({ email: 'a@example.org', email_verified: true })
    for (const none of [emails(false), [], {}, null])
      expect(githubClaims(user, none)).toMatchObject({ email: undefined, email_verified: false })
  })
})
