import { beforeAll, expect, it } from 'vitest'
import { SECOND } from '../../../lib/core/units.ts'
import { OPERATOR } from '../../../lib/index.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { codeOf, PASSWORD, startService } from '../../support/service.ts'

describeOnEachDatabase('creating access that outlives a session', (openUrl) => {
  const service = setUpService(async () => startService(await openUrl(), { ports: { now: () => now } }))
  let now = Date.UTC(2026, 0, 1) * 1000
  beforeAll(async () => {
    await service.signIn('founder')
  })

  const name = { name: 'a bot' }

  it('is allowed for ten minutes after a sign-in, and later once the password is confirmed in this session', async () => {
    const ada = await service.signIn('ada')
    const elsewhere = await service.signIn('ada')
    now += 600 * SECOND
    await ada.keys.create(name)
    now += 1
    expect(await codeOf(ada.keys.create(name))).toBe('confirmation_required')
    // A refresh is not a confirmation.
    await ada.auth.refresh()
    expect(await codeOf(ada.keys.create(name))).toBe('confirmation_required')
    expect(await codeOf(ada.auth.confirm({ password: 'wrong password' }))).toBe('invalid_credentials')
    expect(await codeOf(ada.keys.create(name))).toBe('confirmation_required')
    await ada.auth.confirm({ password: PASSWORD })
    await ada.keys.create(name)
    expect(await codeOf(elsewhere.keys.create(name))).toBe('confirmation_required')
    now += 601 * SECOND
    expect(await codeOf(ada.keys.create(name))).toBe('confirmation_required')
  })

  it('needs no confirmation for an actor without a session', async () => {
    const grace = await service.signIn('grace')
    const actor = await service.chat.users.actor(grace.id)
    now += 3600 * SECOND
    expect((await service.chat.keys.create(actor, { name: 'a bot' })).key).toMatch(/^cs_/)
  })

  it('needs a confirmation from an administrator who changes an email address', async () => {
    const founder = await service.signIn('founder')
    const params = { user_id: (await service.signIn('moved')).id }
    const body = { email: 'moved@example.net' }
    now += 601 * SECOND
    expect(await codeOf(founder.users.change(params.user_id, body))).toBe('confirmation_required')
    await founder.auth.confirm({ password: PASSWORD })
    expect((await founder.users.change(params.user_id, body)).user.email).toBe('moved@example.net')
  })

  it('needs a confirmation from an administrator who sets their own password through the user endpoint', async () => {
    const founder = await service.signIn('founder')
    const other = await service.signIn('other')
    const change = (user_id: string) => founder.users.change(user_id, { password: PASSWORD })
    now += 601 * SECOND
    expect(await codeOf(change(founder.id))).toBe('confirmation_required')
    await change(other.id)
    await founder.auth.confirm({ password: PASSWORD })
    expect((await change(founder.id)).user.id).toBe(founder.id)
  })

  it('limits guesses at a confirmation as at a password change, with the same counter', async () => {
    const thief = await service.signIn('guessed')
    const guess = (password: string) => codeOf(thief.auth.confirm({ password }))
    for (let i = 0; i < 5; i++) expect(await guess('wrong password')).toBe('invalid_credentials')
    expect(await guess(PASSWORD)).toBe('rate_limited')
    const change = { current_password: PASSWORD, new_password: PASSWORD }
    expect(await codeOf(thief.auth.changePassword(change))).toBe('rate_limited')
  })

  it('tells a user without a password to sign in again', async () => {
    const { user } = await service.chat.users.create(OPERATOR, { username: 'bob', email: 'bob@example.org' })
    const bob = await service.chat.users.actor(user.id)
    await expect(service.chat.auth.confirm(bob, { password: PASSWORD })).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('sign in again through the provider'),
    })
  })

  it('cannot be confirmed with an API key', async () => {
    const bot = { ...(await service.chat.users.actor((await service.signIn('dora')).id)), key_id: 'a key' }
    expect(await codeOf(service.chat.auth.confirm(bot, { password: PASSWORD }))).toBe('forbidden')
  })
})
