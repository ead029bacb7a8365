import { beforeAll, expect, it } from 'vitest'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { describeService } from '../../support/describe-service.ts'
import { codeOf, PASSWORD, type Person, startService } from '../../support/service.ts'

describeService('users', (service) => {
  let ada: Person
  beforeAll(async () => {
    ada = await service.signIn('ada')
  })

  it('creates a user who can sign in', async () => {
    const { user } = await ada.users.create({
      username: 'Grace',
      email: ' grace@example.org ',
      password: PASSWORD,
      display_name: 'G. Hopper',
    })
    expect(user).toMatchObject({
      username: 'Grace',
      email: 'grace@example.org',
      display_name: 'G. Hopper',
      roles: ['member'],
    })
    const client = service.client()
    const signedIn = await client.auth.login({ email: 'GRACE@example.org', password: PASSWORD })
    expect(signedIn.user.id).toBe(user.id)
    expect((await client.auth.me()).user).toEqual(signedIn.user)
  })

  it('creates a user without a password, who cannot sign in', async () => {
    await ada.users.create({ username: 'bot', email: 'bot@example.org' })
    expect(await codeOf(service.client().auth.login({ email: 'bot@example.org', password: '' }))).toBe(
      'invalid_credentials',
    )
    expect(await codeOf(service.client().auth.login({ email: 'bot@example.org', password: PASSWORD }))).toBe(
      'invalid_credentials',
    )
  })

  it.each([
    ['e-mail', { username: 'other', email: 'ADA@EXAMPLE.ORG' }, 'email_taken'],
    ['e-mail in full width', { username: 'other', email: '\uFF21da@example.org' }, 'validation_failed'],
    ['username', { username: 'ADA', email: 'other@example.org' }, 'username_taken'],
    ['username in another Unicode form', { username: '\uFF41da', email: 'other@example.org' }, 'username_taken'],
  ])('gives a taken %s to no other user', async (_, body, code) => {
    expect(await codeOf(ada.users.create(body))).toBe(code)
  })

  it('lists users oldest first, in pages, by the beginning of a username or address', async () => {
    for (const name of ['li%', 'li_ng', 'lin', 'Linus', 'lz'])
      await ada.users.create({ username: name, email: `${name.replace('%', '-')}@list.example` })
    const names = async (query: object) => (await ada.users.list(query)).users.map((user) => user.username)
    expect(await names({ query: 'LI' })).toEqual(['li%', 'li_ng', 'lin', 'Linus'])
    expect(await names({ query: 'li%' })).toEqual(['li%'])
    expect(await names({ query: 'li_' })).toEqual(['li_ng'])
    expect(await names({ query: 'linus@LIST' })).toEqual(['Linus'])
    const all = await names({ limit: 200 })
    const paged: string[] = []
    let after: string | undefined
    do {
      const page = await ada.users.list({ limit: 2, ...(after && { after }) })
      paged.push(...page.users.map((user) => user.username))
      after = page.next_after
    } while (after)
    expect(paged).toEqual(all)
    expect(all[0]).toBe('ada')
  })

  it('shows an administrator no secret', async () => {
    const text = JSON.stringify(await ada.users.list())
    expect(text).not.toMatch(/hash|\$2b\$/)
  })
})

describeOnEachDatabase('users before set-up', (openUrl) => {
  it('cannot be created', async () => {
    const service = await startService(await openUrl())
    const create = service.chat.users.create(
      { user_id: '', roles: ['admin'] },
      { username: 'x', email: 'x@example.org' },
    )
    expect(await codeOf(create)).toBe('setup_required')
    await service.close()
  })
})
