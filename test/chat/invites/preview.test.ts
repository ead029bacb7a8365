import { beforeAll, expect, it } from 'vitest'
import { OPERATOR } from '../../../lib/index.ts'
import { describeService } from '../../support/describe-service.ts'
import { codeOf, PASSWORD, type Person, startService, times } from '../../support/service.ts'

describeService('what an invite is for', (service) => {
  let ada: Person
  let conversation_id: string
  beforeAll(async () => {
    await service.signIn('founder')
    ada = await service.signIn('ada')
    ;({ conversation_id } = await ada.conversations.create({ title: 'Engines' }))
  })
  const preview = (token: string) => service.client().invites.preview({ token })
  const invite = async (more = {}, by = ada) => (await by.invites.create(conversation_id, more)).token!

  it('is shown before it is accepted, and uses nothing up', async () => {
    const token = await invite({ email: 'grace@example.org' })
    for (const _ of [1, 2])
      expect(await preview(token)).toEqual({
        kind: 'conversation',
        title: 'Engines',
        participant_count: 1,
        invited_by: { id: ada.id, username: 'ada', kind: 'person' },
        email: 'grace@example.org',
        expires_at: expect.any(String),
        can_sign_up: true,
      })
    const [open] = (await ada.invites.list(conversation_id)).invites
    expect(open).toMatchObject({ uses: 0 })
  })

  it('has no inviter where the operator made it', async () => {
    const { token = '' } = await service.chat.invites.create(OPERATOR, conversation_id, {})
    expect(await preview(token)).not.toHaveProperty('invited_by')
    const { token: newcomer = '' } = await service.chat.newcomers.invite(OPERATOR, {
      email: 'noa@example.org',
      mail: false,
    })
    expect(await preview(newcomer)).toEqual({
      kind: 'service',
      email: 'noa@example.org',
      expires_at: expect.any(String),
      can_sign_up: true,
    })
  })

  it('fails as accepting does', async () => {
    expect(await codeOf(preview('unknown'))).toBe('not_found')
    const used = await invite()
    const linus = await service.signIn('linus')
    await linus.invites.accept({ token: used })
    expect(await codeOf(preview(used))).toBe('invite_used')
    const revoked = await invite()
    await ada.invites.revoke(revoked)
    expect(await codeOf(preview(revoked))).toBe('invite_revoked')
  })

  it('creates users with names of their own, also of one name at the same time', async () => {
    const token = await invite({ max_uses: 20 })
    const join = (n: number) =>
      service.client().invites.accept({
        token,
        email: `hopper${n}@example.org`,
        password: PASSWORD,
        display_name: 'Grace  Brewster Hopper',
      })
    await Promise.all(times(4, join))
    const { participants } = await ada.conversations.get(conversation_id)
    const names = participants.flatMap(({ username, display_name }) => (display_name ? username : []))
    const name = 'grace.brewster.hopper'
    expect(names.sort()).toEqual([name, `${name}2`, `${name}3`, `${name}4`])
    await service.client().invites.accept({ token, email: 'all@example.org', password: PASSWORD })
    await service.client().invites.accept({ token, email: 'Eve.L@example.org', password: PASSWORD })
    const usernames = (await ada.conversations.get(conversation_id)).participants.map(({ username }) => username)
    expect(usernames).toEqual(expect.arrayContaining(['all2', 'eve.l']))
    const { token: newcomer = '' } = await service.chat.newcomers.invite(OPERATOR, {
      email: 'tim@example.org',
      mail: false,
    })
    const { user } = await service.client().newcomers.signUp({ token: newcomer, password: PASSWORD })
    expect(user.username).toBe('tim')
  })
})

it('lets no user sign up once an invite has created its accounts', async () => {
  const service = await startService('sqlite::memory:', { config: { invites: { signup_max_uses: 1 } } })
  const ada = await service.signIn('ada')
  const { conversation_id } = await ada.conversations.create({})
  const { token = '' } = await ada.invites.create(conversation_id, { max_uses: 5 })
  await service.client().invites.accept({ token, email: 'grace@example.org', password: PASSWORD })
  const shown = await service.client().invites.preview({ token })
  expect(shown).toMatchObject({ participant_count: 2, can_sign_up: false })
  expect(shown).not.toHaveProperty('title')
  await service.close()
})

it('counts failures alone against the limit of sign-ins', async () => {
  const service = await startService('sqlite::memory:', { config: { rate_limits: { auth_login_per_ip_per_min: 4 } } })
  const ada = await service.signIn('ada')
  const { conversation_id } = await ada.conversations.create({})
  const { token = '' } = await ada.invites.create(conversation_id, {})
  // By the function: a client waits as long as the answer says, and asks again.
  const preview = (text: string) => service.chat.invites.preview({ ip: '203.0.113.7' }, { token: text })
  for (const _ of times(10, () => 0)) await preview(token)
  const codes: unknown[] = []
  for (const _ of times(6, () => 0)) codes.push(await codeOf(preview('wrong')))
  expect(codes[0]).toBe('not_found')
  expect(codes.at(-1)).toBe('rate_limited')
  await service.close()
})
