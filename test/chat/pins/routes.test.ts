import { beforeAll, expect, it } from 'vitest'
import { describeService } from '../../support/describe-service.ts'
import { listEventsAfter } from '../../support/events-after.ts'
import { codeOf, innerState, type Person, startThread, times } from '../../support/service.ts'

describeService('pins', { config: { limits: { pins: 5 } } }, (service) => {
  let ada: Person
  let grace: Person
  let eve: Person
  beforeAll(async () => {
    ;({ ada, grace, eve } = await startThread(service))
  })

  async function begin() {
    const { conversation_id } = await ada.conversations.create({ title: 'Engines' })
    await ada.participants.add(conversation_id, { user_id: grace.id })
    const post = async (content = 'hello') => (await grace.messages.postRoot(conversation_id, { content })).message_id
    const pinned = async () => (await ada.pins.list(conversation_id)).pins.map(({ message }) => message.id)
    return { conversation_id, post, pinned }
  }

  it('are listed latest first, with the message, the user and the time', async () => {
    const { conversation_id, post, pinned } = await begin()
    const [first, second] = [await post('first'), await post('second')]
    const { stream_position } = await ada.conversations.get(conversation_id)
    await ada.pins.add(first)
    await grace.pins.add(second)
    await grace.pins.add(first)
    await grace.reactions.add(second, '📌')
    const { pins } = await grace.pins.list(conversation_id)
    expect(pins).toMatchObject([
      { by: grace.id, message: { id: second, content: 'second', reacted: ['📌'] } },
      { by: ada.id, message: { id: first, content: 'first' } },
    ])
    const { messages } = await ada.threads.tree(first)
    expect(messages[0]!.pinned).toEqual({ by: ada.id, at: pins[1]!.at })
    await ada.pins.remove(second)
    await ada.pins.remove(second)
    expect(await pinned()).toEqual([first])
    expect(await ada.messages.get(second)).not.toHaveProperty('pinned')
    const events = await listEventsAfter(ada, conversation_id, stream_position!)
    const place = (message_id: string) => ({ message_id, root_id: message_id, conversation_id })
    expect(events.filter(({ type }) => type === 'pin.changed').map(({ payload }) => payload)).toEqual([
      { ...place(first), user_id: ada.id, action: 'added', at: pins[1]!.at },
      { ...place(second), user_id: grace.id, action: 'added', at: pins[0]!.at },
      { ...place(second), user_id: ada.id, action: 'removed', at: expect.any(String) },
    ])
  })

  it('have a limit, also when all are pinned at once', async () => {
    const { conversation_id, post } = await begin()
    const ids = await Promise.all(times(8, () => post()))
    const results = await Promise.allSettled(ids.map((id, n) => (n % 2 ? ada : grace).pins.add(id)))
    const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason.code] : []))
    expect(refused).toEqual(times(3, () => 'conflict'))
    const page = await ada.pins.list(conversation_id, { limit: 3 })
    const rest = await ada.pins.list(conversation_id, { after: page.next_after! })
    expect([page.pins.length, rest.pins.length, rest.next_after]).toEqual([3, 2, undefined])
  })

  it('go with a deleted message, and come back with it', async () => {
    const { conversation_id, post, pinned } = await begin()
    const [first, second] = [await post(), await post()]
    await ada.pins.add(first)
    await ada.pins.add(second)
    await grace.messages.remove(second)
    expect(await pinned()).toEqual([first])
    expect(await ada.messages.get(second)).not.toHaveProperty('pinned')
    for (const call of [() => ada.pins.add(second), () => ada.pins.remove(second)])
      expect(await codeOf(call())).toBe('message_deleted')
    await grace.messages.restore(second)
    expect(await pinned()).toEqual([second, first])
    await grace.messages.remove(second)
    // Others have taken its place.
    for (const _ of times(4, (n) => n)) await ada.pins.add(await post())
    const { stream_position } = await ada.conversations.get(conversation_id)
    await grace.messages.restore(second)
    expect(await pinned()).not.toContain(second)
    const events = await listEventsAfter(ada, conversation_id, stream_position!)
    const ids = { message_id: second, root_id: second, conversation_id }
    expect(events).toMatchObject([
      { type: 'message.restored' },
      { type: 'pin.changed', payload: { ...ids, user_id: grace.id, action: 'removed' } },
    ])
    expect(await ada.messages.get(second)).not.toHaveProperty('pinned')
    expect((await ada.pins.list(conversation_id)).pins).toHaveLength(5)
  })

  it('are for participants only', async () => {
    const { conversation_id, post } = await begin()
    const id = await post()
    expect(await codeOf(eve.pins.add(id))).toBe('not_found')
    expect(await codeOf(eve.pins.remove(id))).toBe('not_found')
    expect(await codeOf(eve.pins.list(conversation_id))).toBe('not_found')
  })

  it('stay when their user is erased, without the user; those of erased messages go', async () => {
    const { conversation_id, post } = await begin()
    const linus = await service.signIn('linus')
    await ada.participants.add(conversation_id, { user_id: linus.id })
    const kept = await post()
    const { message_id: erased } = await linus.messages.postRoot(conversation_id, { content: 'by linus' })
    await linus.pins.add(kept)
    await ada.pins.add(erased)
    await ada.users.erase(linus.id, { messages: 'erase' })
    const { pins } = await ada.pins.list(conversation_id)
    expect(pins).toEqual([{ message: expect.objectContaining({ id: kept }), at: expect.any(String) }])
    await innerState(service).tasks.settle()
    expect((await ada.pins.list(conversation_id)).pins).toEqual(pins)
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  it('move no list', async () => {
    const { conversation_id, post } = await begin()
    const first = await post()
    await post()
    const read = async () => [await ada.conversations.list(), (await ada.threads.list(conversation_id)).threads]
    const before = await read()
    await grace.pins.add(first)
    expect(await read()).toEqual(before)
  })
})
