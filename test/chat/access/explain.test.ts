import { expect, it } from 'vitest'
import { OPERATOR } from '../../../lib/index.ts'
import { describeService } from '../../support/describe-service.ts'
import { codeOf, PASSWORD, type Person } from '../../support/service.ts'
import { openStream, signInByHand } from '../../support/stream.ts'

describeService(
  'access.explain',
  { config: { access: { roles: { seller: { find_users: 'shared', upload: true } }, invite: 'admins' } } },
  (service) => {
    const explain = (user_id: string, act: string, conversation_id?: string) =>
      service.chat.access.explain(OPERATOR, { user_id, act: act as 'post', conversation_id })

    it('says whether the roles of a user in the service allow something, and how far', async () => {
      const ada = await service.signIn('ada')
      const grace = await service.signIn('grace')
      await ada.users.change(grace.id, { roles: ['seller'] })
      expect(await explain(ada.id, 'invite')).toEqual({
        act: 'invite',
        allowed: true,
        reach: 'everyone',
        message: 'The call would pass.',
        roles: ['admin', 'member'],
      })
      expect(await explain(grace.id, 'find_users')).toMatchObject({ allowed: true, reach: 'shared', roles: ['seller'] })
      expect(await explain(grace.id, 'create_conversations')).toEqual({
        act: 'create_conversations',
        allowed: false,
        reason: 'role',
        right: 'create_conversations',
        message: 'Your account may not do this.',
        roles: ['seller'],
      })
      const { user } = await service.chat.users.ensure(OPERATOR, { subject: 'visitor', roles: ['guest'] })
      expect(await explain(user.id, 'keys')).toMatchObject({ allowed: false, reason: 'guest' })
      await ada.users.change(grace.id, { disabled: true })
      expect(await explain(grace.id, 'upload')).toMatchObject({ allowed: false, message: 'The account is disabled.' })
    })

    it('gives the reason of a refusal in a conversation, as the call does', async () => {
      const [ada, alan, eve] = [await service.signIn('ada'), await service.signIn('alan'), await service.signIn('eve')]
      const { conversation_id: id } = await ada.conversations.create({
        visibility: 'listed',
        policy: { post: 'admins' },
      })
      await ada.participants.add(id, { user_id: alan.id })
      expect(await explain(alan.id, 'post', id)).toMatchObject({
        allowed: false,
        reason: 'policy',
        right: 'post',
        role: 'member',
      })
      const refused = await alan.messages.postRoot(id, { content: 'x' }).catch((error) => error)
      expect(refused).toMatchObject({ reason: 'policy', right: 'post' })
      expect(await explain(alan.id, 'invite', id)).toMatchObject({ reason: 'role', right: 'invite' })
      expect(await explain(alan.id, 'reply', id)).toMatchObject({ allowed: true, role: 'member' })
      expect(await explain(alan.id, 'rename', id)).toMatchObject({ reason: 'participant_role', right: 'rename' })
      expect(await explain(alan.id, 'join', id)).toMatchObject({ allowed: false, message: 'A participant has joined.' })
      expect(await explain(eve.id, 'post', id)).toMatchObject({ allowed: false, reason: 'not_joined' })
      expect(await explain(eve.id, 'join', id)).toMatchObject({ allowed: false, reason: 'policy', right: 'join' })
      expect(await explain(alan.id, 'read', id)).toMatchObject({ allowed: true, role: 'member' })
      expect(await explain(eve.id, 'read', id)).toMatchObject({ allowed: false, reason: 'not_joined' })
      await ada.conversations.rename(id, { visibility: 'open' })
      expect(await explain(eve.id, 'read', id)).toMatchObject({ allowed: true })
      const reader = await service.signIn('reader', ['read_only'])
      expect(await explain(reader.id, 'pin', id)).toMatchObject({ allowed: false, reason: 'role' })
      expect(await explain(reader.id, 'mention_all', id)).toMatchObject({ reason: 'role', right: 'post' })
      expect(await explain(reader.id, 'read', id)).toMatchObject({ allowed: true })
      const [seller] = [await service.signIn('mary')]
      await ada.users.change(seller.id, { roles: ['seller'] })
      expect(await explain(seller.id, 'read', id)).toMatchObject({ allowed: false, reason: 'role', right: 'browse' })
      await ada.conversations.rename(id, { policy: { join: 'anyone' } })
      expect(await explain(eve.id, 'join', id)).toMatchObject({ allowed: true })
      await ada.conversations.rename(id, { frozen: true })
      expect(await explain(eve.id, 'join', id)).toMatchObject({ allowed: false, reason: 'frozen' })
      expect(await explain(ada.id, 'post', id)).toMatchObject({ allowed: false, reason: 'frozen', role: 'owner' })
    })

    it('is for the operator alone, about users and acts that there are', async () => {
      const ada = await service.signIn('ada')
      const { conversation_id } = await ada.conversations.create()
      const query = { user_id: ada.id, act: 'post' as const }
      const actor = { user_id: ada.id, roles: ['admin' as const] }
      expect(await codeOf(service.chat.access.explain(actor, query))).toBe('forbidden')
      expect(await codeOf(explain(conversation_id, 'post'))).toBe('not_found')
      expect(await codeOf(explain(ada.id, 'post', ada.id))).toBe('not_found')
      for (const [act, place] of [
        ['fly', undefined],
        ['pin', undefined],
        ['browse', conversation_id],
      ] as const)
        expect(await codeOf(explain(ada.id, act, place))).toBe('validation_failed')
    })
  },
)

describeService('rights.changed', (service) => {
  it('tells the user, and no other, of other roles in a conversation and in the service', async () => {
    const [ada, grace] = [await service.signIn('ada'), await service.signIn('grace')]
    const { conversation_id } = await ada.conversations.create()
    await ada.participants.add(conversation_id, { user_id: grace.id })
    const streamOf = async ({ email }: Person) => {
      const stream = await openStream(
        service.base_url,
        undefined,
        await signInByHand(service.base_url, email, PASSWORD),
      )
      await stream.until('stream.ready')
      return stream
    }
    const [own, others] = [await streamOf(grace), await streamOf(ada)]
    await ada.participants.changeRole(conversation_id, grace.id, { role: 'moderator' })
    expect((await own.until('rights.changed')).at(-1)!.event.payload).toEqual({ conversation_id })
    await ada.users.change(grace.id, { roles: ['read_only'] })
    expect((await own.until('rights.changed')).at(-1)!.event.payload).toEqual({})
    await ada.messages.postRoot(conversation_id, { content: 'the last event' })
    const seen = await others.until('message.new')
    expect(seen.map(({ event }) => event.type)).not.toContain('rights.changed')
    await Promise.all([own.close(), others.close()])
  })
})
