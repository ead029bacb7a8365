import { beforeAll, expect, it } from 'vitest'
import { checkedFetch, readFailure } from '../../support/answers.ts'
import { describeService } from '../../support/describe-service.ts'
import { listEventsAfter } from '../../support/events-after.ts'
import { codeOf, PASSWORD, type Person, startThread, times } from '../../support/service.ts'
import { openStream, type SignedHeaders, signInByHand } from '../../support/stream.ts'

describeService('reactions', (service) => {
  let ada: Person
  let grace: Person
  let eve: Person
  let crowd: Person[]
  let conversation_id: string
  let headers: SignedHeaders
  beforeAll(async () => {
    ;({ ada, grace, eve, conversation_id } = await startThread(service))
    crowd = await Promise.all(times(12, (n) => service.signIn(`crowd${n}`)))
    headers = await signInByHand(service.base_url, ada.email, PASSWORD)
    for (const { id } of crowd) await ada.participants.add(conversation_id, { user_id: id })
  })

  const post = async (content = 'hello') => (await grace.messages.postRoot(conversation_id, { content })).message_id
  const reactionsTo = async (id: string, by = ada) => (await by.messages.get(id)).reactions
  const position = async () => (await ada.conversations.get(conversation_id)).stream_position!

  const eventsAfter = (before: string) => listEventsAfter(ada, conversation_id, before)

  it('are listed by first use, with a count and the first users', async () => {
    const id = await post()
    await ada.reactions.add(id, '👍')
    await grace.reactions.add(id, ':tada:')
    await grace.reactions.add(id, '👍')
    const expected = [
      { emoji: '👍', count: 2, user_ids: [ada.id, grace.id] },
      { emoji: ':tada:', count: 1, user_ids: [grace.id] },
    ]
    expect(await ada.messages.get(id)).toMatchObject({ reactions: expected, reacted: ['👍'] })
    const { messages } = await grace.threads.tree(id)
    expect(messages).toMatchObject([{ reactions: expected, reacted: ['👍', ':tada:'] }])
    expect(await crowd[0]!.messages.get(id)).not.toHaveProperty('reacted')
    expect(await eve.messages.get(id).catch((error) => error.code)).toBe('not_found')
  })

  it('are removed by their user; the oldest that is left decides about the order', async () => {
    const id = await post()
    await ada.reactions.add(id, '👍')
    await grace.reactions.add(id, '🎉')
    await grace.reactions.add(id, '👍')
    await ada.reactions.remove(id, '👍')
    expect(await reactionsTo(id)).toEqual([
      { emoji: '🎉', count: 1, user_ids: [grace.id] },
      { emoji: '👍', count: 1, user_ids: [grace.id] },
    ])
    await grace.reactions.remove(id, '👍')
    await grace.reactions.remove(id, '🎉')
    expect(await ada.messages.get(id)).not.toHaveProperty('reactions')
  })

  it('name ten users, and the eleventh when one of them is removed', async () => {
    const id = await post()
    for (const person of crowd) await person.reactions.add(id, '👍')
    expect(await reactionsTo(id)).toEqual([
      { emoji: '👍', count: 12, user_ids: crowd.slice(0, 10).map((person) => person.id) },
    ])
    await crowd[3]!.reactions.remove(id, '👍')
    expect(await reactionsTo(id)).toEqual([
      { emoji: '👍', count: 11, user_ids: crowd.filter((_, n) => n !== 3 && n < 11).map((person) => person.id) },
    ])
    expect((await crowd[11]!.messages.get(id)).reacted).toEqual(['👍'])
  })

  it('are one with the selector U+FE0F or U+FE0E and without, in the spelling that came first', async () => {
    const id = await post()
    await ada.reactions.add(id, '❤')
    await ada.reactions.add(id, '❤\uFE0F')
    await ada.reactions.add(id, '❤\uFE0E')
    await grace.reactions.add(id, '❤\uFE0E')
    expect(await reactionsTo(id)).toEqual([{ emoji: '❤', count: 2, user_ids: [ada.id, grace.id] }])
    await ada.reactions.remove(id, '❤\uFE0F')
    await grace.reactions.remove(id, '❤')
    await grace.reactions.add(id, '👍🏽')
    await grace.reactions.add(id, '👍')
    expect((await reactionsTo(id))!.map(({ emoji }) => emoji)).toEqual(['👍🏽', '👍'])
  })

  it('are counted once each when all arrive at once, in both spellings', async () => {
    const id = await post()
    await Promise.all(
      crowd.flatMap((person) => ['❤', '❤\uFE0F', '👍', '👍'].map((emoji) => person.reactions.add(id, emoji))),
    )
    const reactions = (await reactionsTo(id))!
    expect(reactions.map(({ count }) => count)).toEqual([12, 12])
    const { reactions: each } = await ada.reactions.list(id, { limit: 200 })
    expect(new Set(each.map(({ emoji, user_id }) => emoji + user_id)).size).toBe(24)
    await Promise.all(crowd.flatMap((person) => times(2, () => person.reactions.remove(id, '❤'))))
    expect((await reactionsTo(id))!.map(({ count }) => count)).toEqual([12])
  })

  it('have 32 kinds at most, also when all arrive at once', async () => {
    const id = await post()
    const kinds = times(40, (n) => `:kind${n}:`)
    const results = await Promise.allSettled(kinds.map((emoji, n) => crowd[n % 12]!.reactions.add(id, emoji)))
    const refused = results.filter((result) => result.status === 'rejected')
    expect(refused.map(({ reason }) => reason.code)).toEqual(times(8, () => 'conflict'))
    const reactions = (await reactionsTo(id))!
    expect(reactions).toHaveLength(32)
    // Another of a kind that is there is none more.
    await ada.reactions.add(id, reactions[31]!.emoji)
    expect(await codeOf(ada.reactions.add(id, '🆕'))).toBe('conflict')
  })

  it('are stored together when they arrive at once, and refused ones affect no other', async () => {
    const [id, deleted] = [await post(), await post()]
    await grace.messages.remove(deleted, {})
    const before = await position()
    const results = await Promise.allSettled([
      ...times(3, () => ada.reactions.add(id, '👍')),
      eve.reactions.add(id, '👍'),
      ada.reactions.add(deleted, '👍'),
      grace.reactions.add(id, '🎉'),
    ])
    const codes = results.map((each) => (each.status === 'rejected' ? (each.reason as { code: string }).code : 'done'))
    expect(codes).toEqual(['done', 'done', 'done', 'not_found', 'message_deleted', 'done'])
    const events = await eventsAfter(before)
    expect(events.map(({ payload }) => (payload as { emoji: string }).emoji).sort()).toEqual(['🎉', '👍'].sort())
    const counts = (await reactionsTo(id))!.map(({ emoji, count }) => `${emoji} ${count}`)
    expect(counts.sort()).toEqual(['🎉 1', '👍 1'].sort())
    const end = events.at(-1)!.payload as { reactions: unknown }
    expect(end.reactions).toEqual(await reactionsTo(id))
  })

  it('may be those of a part of the host, which is in no conversation', async () => {
    const [id, deleted] = [await post(), await post()]
    await grace.messages.remove(deleted, {})
    const { chat } = service
    const system = await chat.system('orders')
    await Promise.all([...times(3, () => chat.reactions.add(system, id, '✅')), ada.reactions.add(id, '✅')])
    const [{ count, user_ids } = {}] = (await reactionsTo(id))!
    expect([count, user_ids?.toSorted()]).toEqual([2, [ada.id, system.user_id].sort()])
    expect(await codeOf(chat.reactions.add(system, deleted, '✅'))).toBe('message_deleted')
    expect(await codeOf(chat.reactions.add(system, system.user_id, '✅'))).toBe('not_found')
    await chat.reactions.remove(system, id, '✅')
    expect(await reactionsTo(id)).toEqual([{ emoji: '✅', count: 1, user_ids: [ada.id] }])
  })

  it('make an event that has the whole list; without a change there is none', async () => {
    const id = await post()
    const before = await position()
    await ada.reactions.add(id, '👍')
    await ada.reactions.add(id, '👍')
    await grace.reactions.remove(id, '👍')
    await ada.reactions.remove(id, '👍')
    await ada.reactions.remove(id, ':none:')
    const place = { message_id: id, root_id: id, conversation_id, user_id: ada.id, emoji: '👍' }
    // A replay has the list as it is now.
    expect(await eventsAfter(before)).toEqual([
      { type: 'reactions.changed', payload: { ...place, action: 'added', reactions: [] } },
      { type: 'reactions.changed', payload: { ...place, action: 'removed', reactions: [] } },
    ])
  })

  it('reach open streams with the list after each change, and never with `reacted`', async () => {
    const id = await post()
    const { cookie } = await signInByHand(service.base_url, grace.email, PASSWORD)
    const stream = await openStream(service.base_url, conversation_id, { cookie })
    await stream.until('stream.ready')
    await ada.reactions.add(id, '👍')
    await grace.reactions.add(id, '👍')
    const counts: number[] = []
    for (let n = 0; n < 2; n++) {
      const { event } = (await stream.until('reactions.changed')).at(-1)!
      if (event.type === 'reactions.changed') counts.push(event.payload.reactions[0]!.count)
    }
    await grace.messages.edit(id, { content: 'edited' })
    const { event } = (await stream.until('message.edited')).at(-1)!
    await stream.close()
    expect(counts).toEqual([1, 2])
    expect(event).toMatchObject({ payload: { message: { reactions: [{ emoji: '👍', count: 2 }] } } })
    expect(JSON.stringify(event)).not.toContain('reacted')
  })

  it('go with a deleted message, and come back with it', async () => {
    const id = await post()
    await ada.reactions.add(id, '👍')
    const before = await position()
    await ada.reactions.add(id, '🎉')
    await grace.messages.remove(id)
    const message = await ada.messages.get(id)
    expect(message).not.toHaveProperty('reactions')
    expect(message).not.toHaveProperty('reacted')
    for (const call of [
      () => ada.reactions.add(id, '👍'),
      () => ada.reactions.remove(id, '👍'),
      () => ada.reactions.remove(id, '👍', { all: true }),
      () => ada.reactions.list(id),
    ])
      expect(await codeOf(call())).toBe('message_deleted')
    const [event] = await eventsAfter(before)
    expect(event).toMatchObject({ type: 'reactions.changed', payload: { action: 'added', reactions: [] } })
    await grace.messages.restore(id)
    const restored = (await eventsAfter(before)).at(-1)
    const reactions = [
      { emoji: '👍', count: 1, user_ids: [ada.id] },
      { emoji: '🎉', count: 1, user_ids: [ada.id] },
    ]
    expect(restored).toMatchObject({ type: 'message.restored', payload: { message: { reactions } } })
    expect(await ada.messages.get(id)).toMatchObject({ reactions, reacted: ['👍', '🎉'] })
  })

  it('are listed one by one, oldest first, all or those of one emoji', async () => {
    const id = await post()
    for (const person of crowd.slice(0, 3)) for (const emoji of ['👍', '❤']) await person.reactions.add(id, emoji)
    const all: string[] = []
    let after: string | undefined
    do {
      const page = await grace.reactions.list(id, { limit: 4, ...(after && { after }) })
      all.push(...page.reactions.map(({ emoji, user_id }) => emoji + user_id))
      after = page.next_after
    } while (after)
    expect(all).toEqual(crowd.slice(0, 3).flatMap(({ id }) => [`👍${id}`, `❤${id}`]))
    const hearts = await grace.reactions.list(id, { emoji: '❤\uFE0F', limit: 2 })
    expect(hearts.reactions.map(({ user_id }) => user_id)).toEqual([crowd[0]!.id, crowd[1]!.id])
    const rest = await grace.reactions.list(id, { emoji: '❤', after: hearts.next_after! })
    expect(rest).toEqual({ reactions: [{ emoji: '❤', user_id: crowd[2]!.id, at: expect.any(String) }] })
    expect(await codeOf(grace.reactions.list(id, { after: 'x' }))).toBe('invalid_cursor')
    expect(await codeOf(grace.reactions.list(id, { emoji: 'x' }))).toBe('validation_failed')
  })

  it('of one kind are cleared by owners and admins, which the audit log has', async () => {
    const id = await post()
    for (const person of crowd) await person.reactions.add(id, '🍅')
    await grace.reactions.add(id, '👍')
    const before = await position()
    expect(await codeOf(grace.reactions.remove(id, '🍅', { all: true }))).toBe('forbidden')
    await ada.reactions.remove(id, '🍅', { all: true })
    await ada.reactions.remove(id, '🍅', { all: true })
    const reactions = [{ emoji: '👍', count: 1, user_ids: [grace.id] }]
    expect(await reactionsTo(id)).toEqual(reactions)
    const payload = { message_id: id, root_id: id, conversation_id, user_id: ada.id, emoji: '🍅' }
    expect(await eventsAfter(before)).toEqual([
      { type: 'reactions.changed', payload: { ...payload, action: 'cleared', reactions } },
    ])
    const { entries } = await ada.audit.list({ act: 'reactions.cleared' })
    expect(entries).toMatchObject([
      { actor_id: ada.id, subject_id: id, detail: { conversation_id, emoji: '🍅', count: 12 } },
    ])
  })

  it('to an answer of the assistant are allowed', async () => {
    const { message_id } = await ada.messages.postRoot(conversation_id, { content: 'Well?', role: 'assistant' })
    await ada.reactions.add(message_id, '🤖')
    expect(await reactionsTo(message_id)).toMatchObject([{ emoji: '🤖', count: 1 }])
  })

  it('stay when their user leaves', async () => {
    const id = await post()
    const guest = await service.signIn('guest')
    await ada.participants.add(conversation_id, { user_id: guest.id })
    await guest.reactions.add(id, '👋')
    await guest.participants.remove(conversation_id, guest.id)
    expect(await codeOf(guest.reactions.remove(id, '👋'))).toBe('not_found')
    expect(await reactionsTo(id)).toEqual([{ emoji: '👋', count: 1, user_ids: [guest.id] }])
  })

  it('neither move a list nor mark anything as unread', async () => {
    const first = await post()
    const second = await post()
    await ada.threads.markRead(first)
    await ada.threads.markRead(second)
    const { threads } = await ada.threads.list(conversation_id)
    const { conversations } = await ada.conversations.list()
    await grace.reactions.add(first, '👍')
    expect((await ada.threads.list(conversation_id)).threads).toEqual(threads)
    expect((await ada.conversations.list()).conversations).toEqual(conversations)
  })

  it.each([
    ['a letter', 'a', 422],
    ['two graphemes', encodeURIComponent('👍👍'), 422],
    ['capital letters in a name', encodeURIComponent(':Upper:'), 422],
    ['the selector alone', '%EF%B8%8F', 422],
    ['a joiner behind it', encodeURIComponent('👍\u200D'), 422],
    ['67 bytes', encodeURIComponent(Array(10).fill('👨').join('\u200D')), 422],
    ['a long text', encodeURIComponent('👍'.repeat(400)), 422],
    ['a NUL', '%00', 422],
    ['bytes that are no UTF-8', '%FF%FE', 404],
    ['a broken escape', '%zz', 404],
    ['a name', ':tada:', 204],
    ['an escaped name', '%3Atada%3A', 204],
    ['a plus', ':+1:', 204],
    ['a keycap with its number sign', encodeURIComponent('#️⃣'), 204],
  ])('refuse as an emoji: %s', async (_, segment, status) => {
    const id = await post()
    for (const method of ['PUT', 'DELETE']) {
      const response = await checkedFetch(`${service.base_url}/api/messages/${id}/reactions/${segment}`, {
        method,
        headers,
      })
      expect(response.status).toBe(status)
      if (status === 422)
        expect(await readFailure(response)).toMatchObject({ code: 'validation_failed', errors: [{ path: 'emoji' }] })
    }
  })

  it('in the process: clear is remove of all', async () => {
    const id = await post()
    const { reactions, users } = service.chat
    await grace.reactions.add(id, '👍')
    await reactions.clear(await users.actor(ada.id), id, '👍')
    expect(await reactionsTo(id)).toBeUndefined()
    expect(await codeOf(reactions.add(await users.actor(ada.id), id, '\uD83D'))).toBe('validation_failed')
  })
})
