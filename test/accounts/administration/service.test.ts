import { beforeAll, expect, it } from 'vitest'
import { OPERATOR } from '../../../lib/index.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { codeOf, PASSWORD, type Person, startService, times } from '../../support/service.ts'
import { openStream, signInByHand } from '../../support/stream.ts'

const OTHER_PASSWORD = 'another horse battery'

describeOnEachDatabase('an account', (openUrl) => {
  let url: string
  const service = setUpService(async () => {
    url = await openUrl()
    return startService(url)
  })
  let ada: Person
  let n = 0
  beforeAll(async () => {
    ada = await service.signIn('ada')
  })

  const newPerson = () => service.signIn(`person-${n++}`)
  const change = (person: { id: string }, body: Parameters<Person['users']['change']>[1], by = ada) =>
    by.users.change(person.id, body)

  it('loses its sessions and streams at once when an administrator disables it, and can sign in again once enabled', async () => {
    const grace = await newPerson()
    const { conversation_id } = await grace.conversations.create({})
    const { cookie } = await signInByHand(service.base_url, grace.email, PASSWORD)
    const streams = [
      await openStream(service.base_url, conversation_id, { cookie }),
      await openStream(service.base_url, undefined, { cookie }),
    ]
    for (const stream of streams) await stream.until('stream.ready')

    const { user } = await change(grace, { disabled: true })
    expect(user).toMatchObject({ id: grace.id, disabled_at: expect.any(String) })
    expect(await codeOf(grace.auth.me())).toBe('unauthenticated')
    for (const stream of streams) {
      const closed = (await stream.until('stream.closed')).at(-1)!
      expect(closed.event.payload).toEqual({ reason: 'session_ended' })
      expect(await stream.next()).toBeUndefined()
    }
    const login = (password: string) => service.client().auth.login({ email: grace.email, password })
    expect(await codeOf(login(PASSWORD))).toBe('account_disabled')
    expect(await codeOf(login('wrong horse'))).toBe('invalid_credentials')

    expect((await change(grace, { disabled: true })).user).toEqual(user)
    expect((await change(grace, { disabled: false })).user).not.toHaveProperty('disabled_at')
    expect(await codeOf(grace.auth.me())).toBe('unauthenticated')
    expect((await login(PASSWORD)).user.id).toBe(grace.id)
  })

  it('loses its streams here when another process disables it', async () => {
    const there = await startService(url)
    const grace = await newPerson()
    const { cookie } = await signInByHand(service.base_url, grace.email, PASSWORD)
    const stream = await openStream(service.base_url, undefined, { cookie })
    await stream.until('stream.ready')
    await there.chat.users.change(OPERATOR, grace.id, { disabled: true })
    expect((await stream.until('stream.closed')).at(-1)!.event.payload).toEqual({ reason: 'session_ended' })
    expect(await codeOf(grace.auth.me())).toBe('unauthenticated')
    await there.close()
  })

  it('has new roles from the next request, in the same session', async () => {
    const grace = await newPerson()
    expect(await codeOf(grace.users.list())).toBe('forbidden')
    expect((await change(grace, { roles: ['member', 'admin', 'member'] })).user.roles).toEqual(['admin', 'member'])
    expect((await grace.users.list({ limit: 1 })).users).toHaveLength(1)
    await change(grace, { roles: ['read_only'] })
    expect(await codeOf(grace.users.list())).toBe('forbidden')
    expect(await codeOf(grace.conversations.create({}))).toBe('forbidden')
    expect((await grace.auth.me()).user.roles).toEqual(['read_only'])
  })

  it('loses all earlier sessions when an administrator sets a new password', async () => {
    const grace = await newPerson()
    await change(grace, { password: OTHER_PASSWORD })
    expect(await codeOf(grace.auth.me())).toBe('unauthenticated')
    expect(await codeOf(grace.auth.login({ email: grace.email, password: PASSWORD }))).toBe('invalid_credentials')
    await grace.auth.login({ email: grace.email, password: OTHER_PASSWORD })

    // After a change of the own password, the current session stays.
    await change(grace, { roles: ['admin'] })
    const elsewhere = service.client()
    await elsewhere.auth.login({ email: grace.email, password: OTHER_PASSWORD })
    await change(grace, { password: PASSWORD }, grace)
    expect((await grace.auth.me()).user.id).toBe(grace.id)
    expect(await codeOf(elsewhere.auth.me())).toBe('unauthenticated')
    await change(grace, { roles: ['member'] })
  })

  it('keeps the fields missing from a change, and loses its display name to an empty one', async () => {
    const grace = await newPerson()
    const { user } = await change(grace, { display_name: 'G. Hopper' })
    expect(user.display_name).toBe('G. Hopper')
    expect((await change(grace, {})).user).toEqual(user)
    expect((await change(grace, { display_name: '' })).user).not.toHaveProperty('display_name')
    expect((await grace.auth.me()).user).toMatchObject({ email: grace.email, roles: ['member'] })
  })

  it.each([
    ['an unknown role', { roles: ['root'] }],
    ['no role', { roles: [] }],
    ['a short password', { password: 'short' }],
    ['a word for a boolean', { disabled: 'true' }],
  ])('refuses %s', async (_, body) => {
    expect(await codeOf(change(ada, body as never))).toBe('validation_failed')
  })

  it('returns not_found for a user who does not exist', async () => {
    for (const id of ['01890000-0000-7000-8000-000000000000', 'nope'])
      expect(await codeOf(change({ id }, { disabled: true }))).toBe('not_found')
    expect(await codeOf(service.chat.users.change({ user_id: ada.id, roles: ['member'] }, ada.id, {}))).toBe(
      'forbidden',
    )
  })

  it('is found by id, username or email address, but not if two users match', async () => {
    const find = (name: string) => service.chat.users.find(OPERATOR, name)
    expect((await find('ADA')).id).toBe(ada.id)
    expect((await find(' Ada@example.org ')).id).toBe(ada.id)
    expect((await find(ada.id)).id).toBe(ada.id)
    expect(await codeOf(find('nobody'))).toBe('not_found')
    await ada.users.create({ username: 'ada@example.org', email: 'mallory@example.org' })
    expect(await codeOf(find('ada@example.org'))).toBe('conflict')
    expect(await codeOf(service.chat.users.find({ user_id: ada.id, roles: ['member'] }, 'ada'))).toBe('forbidden')
  })
})

describeOnEachDatabase('the last administrator', (openUrl) => {
  const start = async () => {
    const service = await startService(await openUrl())
    const ada = await service.signIn('ada')
    return { service, ada, actor: await service.chat.users.actor(ada.id) }
  }

  it('cannot be disabled, lose the role or be erased', async () => {
    const { service, ada } = await start()
    const grace = await service.signIn('grace', ['admin'])
    await ada.users.change(grace.id, { disabled: true })
    const params = { user_id: ada.id }
    expect(await codeOf(ada.users.change(params.user_id, { disabled: true }))).toBe('conflict')
    expect(await codeOf(ada.users.change(params.user_id, { roles: ['member'] }))).toBe('conflict')
    expect(await codeOf(ada.users.erase(params.user_id))).toBe('conflict')
    expect(await codeOf(service.chat.users.change(OPERATOR, ada.id, { disabled: true }))).toBe('conflict')
    expect((await ada.users.change(params.user_id, { roles: ['admin'] })).user.roles).toEqual(['admin'])

    // A user without the role can be changed freely, and so can she with another administrator.
    await ada.users.change(grace.id, { roles: ['member'] })
    await ada.users.change(grace.id, { roles: ['admin'], disabled: false })
    await ada.users.erase(params.user_id)
    expect((await service.chat.users.list(OPERATOR, {})).users.map((user) => user.username)).toEqual(['grace'])
    await service.close()
  })

  it('exactly one of two administrators who disable each other at once succeeds', async () => {
    const { service, ada, actor } = await start()
    for (const round of times(5, (i) => i)) {
      const grace = await service.signIn(`grace-${round}`, ['admin'])
      const other = await service.chat.users.actor(grace.id)
      const results = await Promise.allSettled([
        service.chat.users.change(actor, grace.id, { disabled: true }),
        round % 2
          ? service.chat.users.erase(other, ada.id, {})
          : service.chat.users.change(other, ada.id, { roles: ['member'] }),
      ])
      const lost = results.flatMap((result) => (result.status === 'rejected' ? result.reason.code : []))
      expect(lost).toEqual(['conflict'])
      const { users } = await service.chat.users.list(OPERATOR, {})
      const left = users.filter((user) => user.roles.includes('admin') && !user.disabled_at)
      expect(left).toHaveLength(1)
      if (left[0]!.id !== ada.id) break
    }
    await service.close()
  })

  it('a disabled administrator changes nothing, even if the call was authenticated before', async () => {
    const { service, ada, actor } = await start()
    const [grace, eve] = [await service.signIn('grace', ['admin']), await service.signIn('eve', ['admin'])]
    const other = await service.chat.users.actor(grace.id)
    await service.chat.users.change(actor, grace.id, { disabled: true })
    expect(await codeOf(service.chat.users.change(other, eve.id, { disabled: true }))).toBe('forbidden')
    expect(await codeOf(service.chat.users.erase(other, ada.id, {}))).toBe('forbidden')
    const linus = { username: 'linus', email: 'linus@example.org', roles: ['admin' as const] }
    expect(await codeOf(service.chat.users.create(other, linus))).toBe('forbidden')
    expect((await service.chat.users.create(actor, linus)).user.username).toBe('linus')
    await service.close()
  })

  it('stays when two nodes remove the role from every administrator at once', async () => {
    const url = await openUrl()
    const [here, there] = [await startService(url), await startService(url)]
    await here.signIn('ada')
    const ids = [(await here.chat.users.list(OPERATOR, {})).users[0]!.id]
    for (const i of times(7, (i) => i)) {
      const body = { username: `admin-${i}`, email: `admin-${i}@example.org`, roles: ['admin' as const] }
      ids.push((await here.chat.users.create(OPERATOR, body)).user.id)
    }
    const results = await Promise.allSettled(
      ids.map((id, i) => (i % 2 ? here : there).chat.users.change(OPERATOR, id, { roles: ['member'] })),
    )
    const codes = results.map((result) => (result.status === 'rejected' ? result.reason.code : 'done'))
    expect(codes.sort()).toEqual(['conflict', ...times(7, () => 'done')])
    await Promise.all([here.close(), there.close()])
  })
})
