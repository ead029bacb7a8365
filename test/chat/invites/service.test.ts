import { beforeAll, expect, it } from 'vitest'
import { OPERATOR } from '../../../lib/index.ts'
import { describeService } from '../../support/describe-service.ts'
import { codeOf, type Person, startThread } from '../../support/service.ts'

describeService('the operator', (service) => {
  let ada: Person
  let eve: Person
  let conversation_id: string
  let root_id: string
  beforeAll(async () => {
    const started = await startThread(service)
    ;({ ada, eve, conversation_id } = started)
    root_id = started.root.root_id
  })

  it('creates invites to a conversation without participating in it', async () => {
    const { invites } = service.chat
    const created = await invites.create(OPERATOR, conversation_id, { role: 'owner' })
    const [listed] = (await invites.list(OPERATOR, conversation_id)).invites
    expect(listed).toMatchObject({ id: created.invite_id, role: 'owner', uses: 0 })
    expect(listed).not.toHaveProperty('created_by')
    expect(await eve.invites.accept({ token: created.token! })).toEqual({ conversation_id })

    const second = await invites.create(OPERATOR, conversation_id, {})
    await invites.revokeById(OPERATOR, second.invite_id)
    await invites.revokeById(OPERATOR, second.invite_id)
    const third = await ada.invites.create(conversation_id, {})
    await invites.revoke(OPERATOR, third.token!)
    expect((await invites.list(OPERATOR, conversation_id)).invites).toEqual([])
    const linus = await service.signIn('linus')
    for (const { token = '' } of [second, third])
      expect(await codeOf(linus.invites.accept({ token }))).toBe('invite_revoked')
  })

  it('gets not_found for what does not exist, and reads no conversation', async () => {
    const { invites, conversations, threads, messages } = service.chat
    for (const id of ['01890000-0000-7000-8000-000000000000', 'nope']) {
      expect(await codeOf(invites.create(OPERATOR, id, {}))).toBe('not_found')
      expect(await codeOf(invites.list(OPERATOR, id))).toBe('not_found')
      expect(await codeOf(invites.revokeById(OPERATOR, id))).toBe('not_found')
    }
    for (const call of [
      () => conversations.get(OPERATOR, conversation_id),
      () => conversations.rename(OPERATOR, conversation_id, { title: 'x' }),
      () => service.chat.participants.add(OPERATOR, conversation_id, { user_id: eve.id }),
      () => threads.list(OPERATOR, conversation_id, {}),
      () => threads.tree(OPERATOR, root_id, {}),
      () => messages.reply(OPERATOR, root_id, { content: 'x' }),
      () => messages.get(OPERATOR, root_id),
    ])
      expect(await codeOf(call())).toBe('not_found')
  })

  it('is not a signed-in user: an administrator has no such right, nor has an empty id without the role', async () => {
    const { invites } = service.chat
    const { invite_id } = await ada.invites.create(conversation_id, {})
    const { user } = await ada.users.create({ username: 'root', email: 'root@example.org', roles: ['admin'] })
    for (const actor of [await service.chat.users.actor(user.id), { user_id: '', roles: ['member' as const] }]) {
      expect(await codeOf(invites.create(actor, conversation_id, {}))).toBe('not_found')
      expect(await codeOf(invites.list(actor, conversation_id))).toBe('not_found')
      expect(await codeOf(invites.revokeById(actor, invite_id))).toBe('not_found')
    }
  })
})
