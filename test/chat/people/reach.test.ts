import { beforeAll, describe, expect, it } from 'vitest'
import { OPERATOR } from '../../../lib/core/actor.ts'
import type { ChatError } from '../../../lib/core/errors.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { codeOf, innerState, type Person, startService, type TestService } from '../../support/service.ts'

const ACCESS = {
  find_users: 'shared',
  add_people: 'shared',
  open_direct: 'shared',
  roles: {
    sales: { find_users: 'everyone', open_direct: 'shared', post: true },
    desk: { find_users: 'everyone', add_people: 'everyone', open_direct: 'everyone', create_conversations: true },
  },
  participant_roles: { helper: { rights: ['post', 'moderate'] } },
}

/** The failure of a call, without what differs from call to call. */
async function failureOf(call: Promise<unknown>) {
  const error = await call.then(
    () => undefined,
    (error: unknown) => error,
  )
  const { code, status, message, reason, right } = error as ChatError
  return { code, status, message, reason, right }
}

describeOnEachDatabase('rights by configuration', (open) => {
  let service: TestService
  let ada: Person
  let grace: Person
  let carol: Person
  let sam: Person
  let conversation_id: string

  beforeAll(async () => {
    service = await startService(await open(), { config: { access: ACCESS } })
    const root = await service.signIn('root')
    ada = await service.signIn('ada')
    grace = await service.signIn('grace')
    carol = await service.signIn('carol')
    sam = await service.signIn('sam')
    await root.users.change(sam.id, { roles: ['sales'] })
    conversation_id = (await ada.conversations.create({ title: 'Machines' })).conversation_id
    const { invite } = (await ada.participants.add(conversation_id, { email: grace.email })) as {
      invite: { token: string }
    }
    await grace.invites.accept({ token: invite.token })
    return () => service.close()
  })

  describe('find_users = shared', () => {
    it('finds users of a common conversation, and no others', async () => {
      const found = async (by: Person, query: string) => (await by.users.search({ query })).users.map((u) => u.username)
      expect(await found(ada, 'gr')).toEqual(['grace'])
      for (const query of ['ca', 'carol']) expect(await found(ada, query)).toEqual([])
      expect(await found(sam, 'carol')).toEqual(['carol'])
    })

    it('answers a stranger like a user that does not exist, by name, address and id', async () => {
      const unknown = '01890000-0000-7000-8000-000000000000'
      const pairs: [stranger: () => Promise<unknown>, none: () => Promise<unknown>][] = [
        [() => ada.users.get(carol.id), () => ada.users.get(unknown)],
        [() => ada.conversations.direct({ user_id: carol.id }), () => ada.conversations.direct({ user_id: unknown })],
        [() => ada.conversations.direct({ username: 'carol' }), () => ada.conversations.direct({ username: 'nix' })],
        [
          () => ada.participants.add(conversation_id, { user_id: carol.id }),
          () => ada.participants.add(conversation_id, { user_id: unknown }),
        ],
        [
          () => ada.participants.add(conversation_id, { username: 'carol' }),
          () => ada.participants.add(conversation_id, { username: 'nix' }),
        ],
      ]
      for (const [stranger, none] of pairs) {
        const failure = await failureOf(stranger())
        expect(failure).toEqual(await failureOf(none()))
        expect(failure.code).toBe('not_found')
      }
      // An address gets an invite, whether a user has it or not.
      for (const email of [carol.email, 'nix@example.org'])
        expect(await ada.participants.add(conversation_id, { email })).toHaveProperty('invite')
    })
  })

  it('tells a person that is known, but not shared, from one that is not known', async () => {
    const refused = {
      code: 'forbidden',
      status: 403,
      reason: 'not_shared',
      message: 'You share no conversation with this user.',
    }
    expect(await failureOf(sam.conversations.direct({ user_id: carol.id }))).toEqual({ ...refused, right: undefined })
    // Sales neither create conversations nor add people.
    expect(await failureOf(sam.conversations.create({}))).toMatchObject({
      reason: 'role',
      right: 'create_conversations',
    })
    expect((await sam.users.search({ query: 'carol', for: 'direct' })).users).toEqual([])
    expect((await sam.users.search({ query: 'carol', for: 'add' })).users).toEqual([])
  })

  it('counts no conversation as common that anybody may join', async () => {
    const room = await grace.conversations.create({ title: 'Square' })
    await service.chat.users.change(OPERATOR, grace.id, { roles: ['member', 'admin'] })
    await grace.conversations.rename(room.conversation_id, { visibility: 'listed', policy: { join: 'anyone' } })
    await carol.conversations.join(room.conversation_id)
    await ada.conversations.join(room.conversation_id)
    // The conversation shows her, and makes no users shared.
    expect((await ada.users.get(carol.id)).user.username).toBe('carol')
    expect((await ada.users.search({ query: 'carol' })).users).toEqual([])
    expect(await failureOf(ada.conversations.direct({ user_id: carol.id }))).toMatchObject({ reason: 'not_shared' })
    expect(await failureOf(ada.participants.add(conversation_id, { user_id: carol.id }))).toMatchObject({
      reason: 'not_shared',
    })
  })

  it('counts no conversation as common that users join by themselves', async () => {
    const { conversation_id: news } = await grace.conversations.create({ title: 'News', auto_join: 'members' })
    await innerState(service.chat).tasks.settle()
    expect((await ada.participants.list(news, { query: 'carol' })).participants).toHaveLength(1)
    expect((await ada.users.search({ query: 'carol' })).users).toEqual([])
    expect(await failureOf(ada.conversations.direct({ user_id: carol.id }))).toMatchObject({ reason: 'not_shared' })
    await grace.conversations.remove(news)
  })

  it('gives a user the union of the roles, and the next request knows', async () => {
    const desk = await service.signIn('dora')
    expect((await desk.auth.me()).can).toMatchObject({ find_users: 'shared', open_direct: 'shared', upload: true })
    await service.chat.users.change(OPERATOR, desk.id, { roles: ['member', 'desk'] })
    const { user, can } = await desk.auth.me()
    expect(user.roles).toEqual(['desk', 'member'])
    expect(can).toMatchObject({ find_users: 'everyone', add_people: 'everyone', open_direct: 'everyone', upload: true })
    expect(can).not.toHaveProperty('publish')
    expect((await desk.users.search({ query: 'carol', for: 'add' })).users).toMatchObject([{ username: 'carol' }])
    expect((await desk.conversations.direct({ username: 'carol' })).created).toBe(true)
  })

  it('knows no other roles, in the service and in conversations', async () => {
    const root = service.client()
    await root.auth.login({ email: 'root@example.org', password: 'correct horse battery' })
    const unknown = {
      code: 'validation_failed',
      errors: [{ path: 'roles', message: expect.stringContaining('sales') }],
    }
    await expect(root.users.change(carol.id, { roles: ['pilot'] })).rejects.toMatchObject(unknown)
    await expect(root.users.create({ username: 'x', email: 'x@example.org', roles: ['pilot'] })).rejects.toMatchObject(
      unknown,
    )
    const input = { role: 'pilot' }
    const role = { code: 'validation_failed', errors: [{ path: 'role', message: expect.stringContaining('helper') }] }
    await expect(ada.participants.changeRole(conversation_id, grace.id, input)).rejects.toMatchObject(role)
    await expect(ada.participants.add(conversation_id, { user_id: grace.id, ...input })).rejects.toMatchObject(role)
    await expect(ada.invites.create(conversation_id, input)).rejects.toMatchObject(role)
  })

  it('lets a role of the host in a conversation do what it names, and no more', async () => {
    const { message_id } = await ada.messages.postRoot(conversation_id, { content: 'spam' })
    await ada.participants.changeRole(conversation_id, grace.id, { role: 'helper' })
    expect((await ada.participants.list(conversation_id)).participants).toMatchObject([{}, { role: 'helper' }])
    await grace.messages.remove(message_id)
    expect(await failureOf(grace.reactions.add(message_id, '👍'))).toMatchObject({
      code: 'forbidden',
      reason: 'participant_role',
      right: 'react',
    })
    expect(await codeOf(grace.participants.changeRole(conversation_id, ada.id, { role: 'viewer' }))).toBe('forbidden')
  })
})
