import { beforeAll, expect, it } from 'vitest'
import { OPERATOR } from '../../../lib/index.ts'
import { describeService } from '../../support/describe-service.ts'
import { codeOf, PASSWORD, startThread } from '../../support/service.ts'
import { openStream, signInByHand } from '../../support/stream.ts'

describeService('conversations, to the operator', (service) => {
  let world: Awaited<ReturnType<typeof startThread>>
  beforeAll(async () => {
    world = await startThread(service)
    await world.eve.conversations.create({ title: 'Alone' })
  })

  it('are listed with counts and without texts, in pages, and of one user', async () => {
    const { conversations } = await service.chat.conversations.listAll(OPERATOR)
    expect(conversations).toMatchObject([
      { id: world.conversation_id, title: 'Engines', participant_count: 2, threads: 1, messages: 1, is_group: true },
      { title: 'Alone', participant_count: 1, threads: 0, messages: 0 },
    ])
    expect(JSON.stringify(conversations)).not.toContain('first')
    const page = await service.chat.conversations.listAll(OPERATOR, { limit: 1 })
    expect(page.next_after).toBe(world.conversation_id)
    const rest = await service.chat.conversations.listAll(OPERATOR, { limit: 1, after: page.next_after })
    expect([rest.conversations.length, rest.next_after]).toEqual([1, undefined])
    const ofEve = await service.chat.conversations.listAll(OPERATOR, { user_id: world.eve.id })
    expect(ofEve.conversations.map(({ title }) => title)).toEqual(['Alone'])
  })

  it('are shown with their participants', async () => {
    const found = await service.chat.conversations.describe(OPERATOR, world.conversation_id)
    expect(found.participants).toEqual([
      { user_id: world.ada.id, username: 'ada', role: 'owner' },
      { user_id: world.grace.id, username: 'grace', role: 'member' },
    ])
  })

  it('are nothing for administrators, who participate in their own', async () => {
    const ada = await service.chat.users.actor(world.ada.id)
    expect(ada.roles).toContain('admin')
    expect(await codeOf(service.chat.conversations.listAll(ada))).toBe('forbidden')
    expect(await codeOf(service.chat.conversations.describe(ada, world.conversation_id))).toBe('forbidden')
    expect(await codeOf(service.chat.conversations.removeAny(ada, world.conversation_id))).toBe('forbidden')
  })

  it('are deleted, and their streams end', async () => {
    const { cookie } = await signInByHand(service.base_url, world.ada.email, PASSWORD)
    const stream = await openStream(service.base_url, world.conversation_id, { cookie })
    await stream.until('stream.ready')
    await service.chat.conversations.removeAny(OPERATOR, world.conversation_id)
    await stream.until('stream.closed')
    expect(await codeOf(world.ada.conversations.get(world.conversation_id))).toBe('not_found')
    expect(await codeOf(service.chat.conversations.describe(OPERATOR, world.conversation_id))).toBe('not_found')
    expect(await codeOf(service.chat.conversations.removeAny(OPERATOR, world.conversation_id))).toBe('not_found')
    const { entries } = await service.chat.audit.list(OPERATOR, { act: 'conversation.deleted' })
    expect(entries).toMatchObject([{ subject_id: world.conversation_id }])
  })

  it('are shown with who sees them, joins them and writes in them', async () => {
    const { chat } = service
    const { conversation_id: id } = await chat.conversations.create(await chat.system('host'), {
      title: 'Engines',
      topic: 'About engines',
      visibility: 'open',
      policy: { join: 'anyone', post: 'admins' },
      auto_join: 'members',
    })
    expect(await chat.conversations.describe(OPERATOR, id)).toMatchObject({
      topic: 'About engines',
      visibility: 'open',
      policy: { join: 'anyone', post: 'admins' },
      auto_join: 'members',
    })
    await chat.conversations.rename(await chat.system('host'), id, { auto_join: null, frozen: true, topic: '' })
    const frozen = await chat.conversations.describe(OPERATOR, id)
    expect(frozen).toMatchObject({ frozen_at: expect.any(String) })
    for (const unset of ['topic', 'auto_join']) expect(frozen).not.toHaveProperty(unset)
  })
})
