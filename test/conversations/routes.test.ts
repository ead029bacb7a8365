import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeOnEachDatabase } from '../support/databases.ts'
import { codeOf, startService, startThread, type TestService, times } from '../support/service.ts'

describeOnEachDatabase('conversations', (openUrl) => {
  let service: TestService
  let world: Awaited<ReturnType<typeof startThread>>
  beforeAll(async () => {
    service = await startService(await openUrl())
    world = await startThread(service)
  })
  afterAll(() => service.close())

  it('opens one, whose owner is who opened it', async () => {
    const { ada } = world
    const { conversation_id, conversation } = await ada.createConversation({ body: { title: 'Täglich' } })
    expect(conversation).toMatchObject({
      id: conversation_id,
      title: 'Täglich',
      is_group: true,
      participants: [{ user_id: ada.id, role: 'owner' }],
    })
    expect(await ada.readConversation({ params: { conversation_id } })).toMatchObject(conversation)
  })

  it('adds people by id, name or address, in any spelling that is theirs', async () => {
    const { ada, grace, eve } = world
    const { conversation_id } = await ada.createConversation()
    const params = { conversation_id }
    const linus = await service.signIn('linus')
    expect((await ada.addParticipant({ params, body: { user_id: grace.id } })).participant).toMatchObject({
      user_id: grace.id,
      username: 'grace',
      role: 'member',
    })
    expect((await ada.addParticipant({ params, body: { username: 'EVE', role: 'viewer' } })).participant).toMatchObject(
      { user_id: eve.id, role: 'viewer' },
    )
    expect(
      (await ada.addParticipant({ params, body: { email: ' Linus@EXAMPLE.org', role: 'admin' } })).participant.user_id,
    ).toBe(linus.id)
    expect((await ada.readConversation({ params })).participants.map((each) => each.role)).toEqual([
      'owner',
      'member',
      'viewer',
      'admin',
    ])
    expect(await codeOf(ada.addParticipant({ params, body: { user_id: grace.id } }))).toBe('already_participant')
    expect(await codeOf(ada.addParticipant({ params, body: { username: 'nobody' } }))).toBe('not_found')
  })

  it('adds somebody once, however many ask at once', async () => {
    const { ada, grace } = world
    const { conversation_id } = await ada.createConversation()
    const call = () =>
      ada.addParticipant({ params: { conversation_id }, body: { user_id: grace.id } }).then(
        () => 'added',
        (error) => error.code,
      )
    const answers = await Promise.all(times(10, call))
    expect(answers.sort()).toEqual(['added', ...Array(9).fill('already_participant')])
  })

  it('lets owners manage everybody, admins those below owner, and nobody else anyone', async () => {
    const { ada, grace, eve } = world
    const { conversation_id } = await ada.createConversation()
    const params = { conversation_id }
    const linus = await service.signIn('linus')
    await ada.addParticipant({ params, body: { user_id: grace.id, role: 'admin' } })
    expect(await codeOf(grace.addParticipant({ params, body: { user_id: eve.id, role: 'owner' } }))).toBe('forbidden')
    await grace.addParticipant({ params, body: { user_id: eve.id, role: 'member' } })
    expect(await codeOf(eve.addParticipant({ params, body: { user_id: linus.id } }))).toBe('forbidden')
    expect(await codeOf(eve.removeParticipant({ params: { conversation_id, user_id: grace.id } }))).toBe('forbidden')
    expect(await codeOf(grace.removeParticipant({ params: { conversation_id, user_id: ada.id } }))).toBe('forbidden')
    await grace.removeParticipant({ params: { conversation_id, user_id: eve.id } })
    expect(await codeOf(eve.readConversation({ params }))).toBe('not_found')
    expect(await codeOf(ada.removeParticipant({ params: { conversation_id, user_id: eve.id } }))).toBe('not_found')
  })

  it('lets everybody leave but the last owner', async () => {
    const { ada, grace } = world
    const { conversation_id } = await ada.createConversation()
    const params = { conversation_id }
    await ada.addParticipant({ params, body: { user_id: grace.id } })
    expect(await codeOf(ada.removeParticipant({ params: { conversation_id, user_id: ada.id } }))).toBe('last_owner')
    await grace.removeParticipant({ params: { conversation_id, user_id: grace.id } })
    await ada.addParticipant({ params, body: { user_id: grace.id, role: 'owner' } })
    const leave = (person: typeof ada) =>
      person.removeParticipant({ params: { conversation_id, user_id: person.id } }).then(
        () => 'left',
        (error) => error.code,
      )
    expect((await Promise.all([leave(ada), leave(grace)])).sort()).toEqual(['last_owner', 'left'])
  })

  it('keeps a conversation of two to two', async () => {
    const { ada, grace, eve } = world
    const { conversation_id } = await ada.createConversation({ body: { is_group: false } })
    const params = { conversation_id }
    await ada.addParticipant({ params, body: { user_id: grace.id } })
    expect(await codeOf(ada.addParticipant({ params, body: { user_id: eve.id } }))).toBe('conflict')
    expect((await ada.readConversation({ params })).participants).toHaveLength(2)
  })

  it('lets a read-only user read, and change nothing', async () => {
    const { ada, root, conversation_id } = world
    const rita = await service.signIn('rita', ['read_only'])
    await ada.addParticipant({ params: { conversation_id }, body: { user_id: rita.id, role: 'owner' } })
    expect((await rita.readThread({ params: { root_id: root.root_id } })).messages).toHaveLength(1)
    expect(await codeOf(rita.createConversation())).toBe('forbidden')
    expect(await codeOf(rita.postRoot({ params: { conversation_id }, body: { content: 'x' } }))).toBe('forbidden')
    expect(await codeOf(rita.removeParticipant({ params: { conversation_id, user_id: ada.id } }))).toBe('forbidden')
  })

  it('lets no post through after a removal', async () => {
    const { ada, grace } = world
    const { conversation_id } = await ada.createConversation()
    const params = { conversation_id }
    await ada.addParticipant({ params, body: { user_id: grace.id } })
    const posts = times(20, (i) =>
      grace.postRoot({ params, body: { content: `${i}` } }).then(
        ({ message }) => message.id,
        () => undefined,
      ),
    )
    await ada.removeParticipant({ params: { conversation_id, user_id: grace.id } })
    const ids = (await Promise.all(posts)).filter((id) => id !== undefined)
    const { threads } = await ada.listThreads({ params, query: { limit: 200 } })
    expect(new Set(threads.map((thread) => thread.root_id))).toEqual(new Set(ids))
    const log = await service.chat.context.db.all<{ type: string }>(
      'SELECT type FROM events WHERE conversation_id = ? ORDER BY seq',
      conversation_id,
    )
    expect(log.at(-1)!.type).toBe('membership.changed')
  })

  it('tells whether people are there', async () => {
    const { ada, grace, conversation_id } = world
    const presenceOf = async (id: string) =>
      (await ada.readConversation({ params: { conversation_id } })).participants.find((each) => each.user_id === id)!
        .presence
    expect(await presenceOf(grace.id)).toEqual({ status: 'offline' })
    await grace.sendHeartbeat({ body: { status: 'away' } })
    expect(await presenceOf(grace.id)).toMatchObject({ status: 'away', last_seen_at: expect.any(String) })
  })
})
