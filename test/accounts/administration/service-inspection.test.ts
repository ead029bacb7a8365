import { beforeAll, expect, it } from 'vitest'
import { OPERATOR } from '../../../lib/index.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { codeOf, innerState, PASSWORD, startService } from '../../support/service.ts'

describeOnEachDatabase('an account, to an operator', (openUrl) => {
  const service = setUpService(async () => startService(await openUrl(), { ports: { now: () => now } }))
  let now = Date.UTC(2026, 0, 1) * 1000
  beforeAll(async () => {
    await service.signIn('founder')
  })

  it('shows what belongs to it', async () => {
    const ada = await service.signIn('ada')
    await ada.keys.create({ name: 'a bot' })
    await ada.conversations.create({})
    const { conversation_id } = await ada.conversations.create({})
    await ada.conversations.remove(conversation_id)
    const facts = await service.chat.users.describe(OPERATOR, ada.id)
    expect(facts).toMatchObject({
      user: { username: 'ada', email: ada.email },
      has_password: true,
      last_seen_at: '2026-01-01T00:00:00.000000Z',
      ...{ sessions: 1, keys: 1, identities: 0, conversations: 1 },
    })
    expect(facts).not.toHaveProperty('locked_until')
    await ada.auth.logout()
    expect((await service.chat.users.describe(OPERATOR, ada.id)).sessions).toBe(0)
    expect(await codeOf(service.chat.users.describe(OPERATOR, innerState(service).id()))).toBe('not_found')
  })

  it('is unlocked after failed sign-ins', async () => {
    const { id, email } = await service.signIn('grace')
    const login = (password: string) =>
      codeOf(service.chat.auth.login({}, { email, password }).then(() => Promise.reject({ code: 'in' })))
    for (let i = 0; i < 10; i++) expect(await login('wrong password')).toBe('invalid_credentials')
    expect(await login(PASSWORD)).toBe('rate_limited')
    const { locked_until } = await service.chat.users.describe(OPERATOR, id)
    expect(locked_until).toBe('2026-01-01T00:00:30.000000Z')
    await service.chat.users.unlock(OPERATOR, id)
    expect(await service.chat.users.describe(OPERATOR, id)).not.toHaveProperty('locked_until')
    expect(await login(PASSWORD)).toBe('in')
    const { entries } = await service.chat.audit.list(OPERATOR, { act: 'user.unlocked' })
    expect(entries).toMatchObject([{ subject_id: id }])
  })

  it('gets another username, unless another user has it', async () => {
    const { id } = await service.signIn('heidi')
    const change = (username: string) => service.chat.users.change(OPERATOR, id, { username })
    expect((await change('Heidi H.')).user.username).toBe('Heidi H.')
    expect(await codeOf(change('FOUNDER'))).toBe('username_taken')
    expect(await codeOf(service.chat.users.change(OPERATOR, id, { email: 'founder@example.org' }))).toBe('email_taken')
    const both = { username: 'founder', email: 'heidi@example.org' }
    expect(await codeOf(service.chat.users.change(OPERATOR, id, both))).toBe('username_taken')
    expect(await codeOf(change('\u202e'))).toBe('validation_failed')
    expect((await service.chat.users.find(OPERATOR, 'heidi h.')).id).toBe(id)
    const { entries } = await service.chat.audit.list(OPERATOR, { act: 'user.changed', user_id: id })
    expect(entries[0]!.detail).toEqual({ changed: ['username'] })
  })

  it('is shown and unlocked by administrators only', async () => {
    const { id } = await service.signIn('ivan')
    const ivan = await service.chat.users.actor(id)
    expect(await codeOf(service.chat.users.describe(ivan, id))).toBe('forbidden')
    expect(await codeOf(service.chat.users.unlock(ivan, id))).toBe('forbidden')
    now += 1
  })
})
