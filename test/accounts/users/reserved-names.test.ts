import { beforeAll, expect, it } from 'vitest'
import { checkUsernames } from '../../../cli/doctor/usernames.ts'
import { OPERATOR, parseConfig } from '../../../lib/index.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { codeOf, innerState, PASSWORD, type Person, startService } from '../../support/service.ts'

const RESERVED = ['all', 'everyone', 'here', 'channel', 'ALL', 'Everyone', '\uFF41\uFF4C\uFF4C']
const ISSUE = { path: 'username', message: 'is reserved, as it addresses several users' }

describeOnEachDatabase('a name that addresses several users', (openUrl) => {
  const service = setUpService(async () => startService(await openUrl()))
  let ada: Person
  let grace: Person
  beforeAll(async () => {
    ada = await service.signIn('ada')
    grace = await service.signIn('grace')
  })

  const issuesOf = (call: Promise<unknown>) =>
    call.then(
      () => [],
      (error: { errors?: object[] }) => error.errors,
    )

  it.each(RESERVED)('is no username that a user gets: %s', async (username) => {
    const email = 'eve@example.org'
    const { token } = (await ada.newcomers.invite({ email, mail: false })) as { token: string }
    const { conversation_id } = await ada.conversations.create()
    const invite = await ada.invites.create(conversation_id, {})
    const calls = [
      () => ada.users.create({ username, email }),
      () => ada.users.change(grace.id, { username }),
      () => grace.auth.changeProfile({ username }),
      () => service.client().newcomers.signUp({ token, username, password: PASSWORD }),
      () => service.client().invites.accept({ token: invite.token!, username, email, password: PASSWORD }),
    ]
    for (const call of calls) expect(await issuesOf(call())).toEqual([ISSUE])
    await expect(service.chat.users.create(OPERATOR, { username, email })).rejects.toMatchObject({ errors: [ISSUE] })
  })

  it('is replaced where a host gives it, and ignored for a user who has a name', async () => {
    const { users } = service.chat
    const { user } = await users.ensure(OPERATOR, { subject: 's', username: 'All', email: 'all@example.org' })
    expect(user.username).toMatch(/^all-1-[0-9a-f]{12}$/)
    expect((await users.ensure(OPERATOR, { subject: 's', username: 'hopper' })).user.username).toBe('hopper')
    expect((await users.ensure(OPERATOR, { subject: 's', username: 'here' })).user.username).toBe('hopper')
  })

  it('is no new system actor, and one of an earlier version stays', async () => {
    for (const name of ['all', 'everyone', 'here', 'channel'])
      expect(await codeOf(service.chat.system(name))).toBe('validation_failed')
    const { user_id } = await service.chat.system('orders')
    await innerState(service).db.run(sql`UPDATE users SET system_name = 'here' WHERE id = ${user_id}`)
    expect((await service.chat.system('here')).user_id).toBe(user_id)
  })

  it('stays that of a user of an earlier version, whom doctor lists and @all does not mention', async () => {
    const { db } = innerState(service)
    expect(await checkUsernames(db, parseConfig({}))).toEqual([])
    await db.run(sql`UPDATE users SET username = 'All', username_key = 'all' WHERE id = ${grace.id}`)
    expect(await checkUsernames(db, parseConfig({}))).toMatchObject([
      { code: 'users.reserved_name', severity: 'warning' },
    ])
    expect((await checkUsernames(db, parseConfig({})))[0]!.message).toContain(': All.')
    const { conversation_id } = await ada.conversations.create({ title: 'Engines' })
    await ada.participants.add(conversation_id, { username: 'all' })
    const mentions = async () => (await ada.messages.postRoot(conversation_id, { content: '@all' })).message.mentions
    expect(await mentions()).toEqual({ user_ids: [], all: true })
    await ada.conversations.rename(conversation_id, { policy: { mention_all: 'nobody' } })
    expect(await mentions()).toBeUndefined()
    expect((await grace.auth.changeProfile({ display_name: 'Grace' })).user.username).toBe('All')
    expect((await grace.auth.changeProfile({ username: 'grace' })).user.username).toBe('grace')
  })
})

describeOnEachDatabase('the first administrator', (openUrl) => {
  it('has no reserved name, neither given nor by default', async () => {
    const service = await startService(await openUrl())
    const input = { email: 'all@example.org', password: PASSWORD }
    await expect(service.client().setup.run({ ...input, username: 'Here' })).rejects.toMatchObject({ errors: [ISSUE] })
    expect((await service.client().setup.run(input)).user.username).toBe('all-1')
    await service.close()
  })
})
