import { beforeAll, expect, it } from 'vitest'
import { type ChatError, OPERATOR } from '../../../lib/index.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { type Person, startService } from '../../support/service.ts'

const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    ({ reason }: ChatError) => reason,
  )

describeOnEachDatabase('the policy of invites', (openUrl) => {
  const service = setUpService(async () => startService(await openUrl()))
  let ada: Person
  let grace: Person
  let linus: Person
  let room: string
  beforeAll(async () => {
    grace = await service.signIn('grace')
    ada = await service.signIn('ada')
    linus = await service.signIn('linus')
    await service.chat.users.change(OPERATOR, grace.id, { roles: ['admin'] })
    room = (await ada.conversations.create({ title: 'Engines' })).conversation_id
    await ada.participants.add(room, { user_id: grace.id, role: 'admin' })
    await ada.participants.add(room, { user_id: linus.id, role: 'member' })
  })

  it('says who lists and revokes them, as who makes them', async () => {
    const { invite_id } = await ada.invites.create(room, { role: 'member' })
    expect(await reasonOf(linus.invites.list(room))).toBe('participant_role')
    expect(await reasonOf(linus.invites.revoke(invite_id))).toBe('participant_role')
    await ada.conversations.rename(room, { policy: { invite: 'members' } })
    expect((await linus.invites.list(room)).invites.map(({ id }) => id)).toEqual([invite_id])
    await linus.invites.revoke(invite_id)
    const { invite_id: own } = await linus.invites.create(room, { role: 'member' })
    const { invite_id: other } = await ada.invites.create(room, { role: 'member' })
    await ada.conversations.rename(room, { policy: { invite: 'owners' } })
    expect(await reasonOf(grace.invites.list(room))).toBe('policy')
    expect(await reasonOf(grace.invites.revoke(other))).toBe('policy')
    await linus.invites.revoke(own)
    expect((await ada.invites.list(room)).invites.map(({ id }) => id)).toEqual([other])
  })

  it('does not keep them from being revoked in a frozen conversation', async () => {
    const { invite_id } = await ada.invites.create(room, { role: 'member' })
    await ada.conversations.rename(room, { frozen: true })
    expect((await ada.invites.list(room)).invites.map(({ id }) => id)).toContain(invite_id)
    await ada.invites.revoke(invite_id)
    await ada.conversations.rename(room, { frozen: false })
  })

  it('holds for the rooms that an invite to the service names, when it is made and when it is used', async () => {
    const actor = await service.chat.users.actor(grace.id)
    const invite = (email: string) =>
      service.chat.newcomers.invite(actor, { email, conversation_ids: [room], mail: false })
    await ada.conversations.rename(room, { policy: { invite: 'owners' } })
    expect(await reasonOf(invite('lea@example.org'))).toBe('participant_role')
    await ada.conversations.rename(room, { policy: { invite: 'admins' } })
    const { token } = await invite('lea@example.org')
    await ada.conversations.rename(room, { policy: { invite: 'owners' } })
    const lea = await service.chat.newcomers.signUp({}, { token: token!, username: 'lea', password: 'a long password' })
    const by = await service.chat.users.actor(lea.user.id)
    expect((await service.chat.conversations.list(by, {})).conversations).toEqual([])
  })
})
