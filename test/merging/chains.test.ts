import { expect, it } from 'vitest'
import { OPERATOR } from '../../lib/index.ts'
import { describeService } from '../support/describe-service.ts'
import { codeOf } from '../support/service.ts'

describeService('users who are merged one after another', (service) => {
  let n = 0

  /** Three users of the host's, and Ada. */
  async function begin() {
    const ada = await service.signIn(`ada-${n}`)
    const [a, b, c] = await Promise.all(
      ['a', 'b', 'c'].map(async (name) => {
        const subject = `${name}-${n}`
        return { subject, id: (await service.chat.users.ensure(OPERATOR, { subject })).user.id }
      }),
    )
    n++
    return { ada, a: a!, b: b!, c: c! }
  }
  const merge = (from: { id: string }, into: { id: string }) =>
    service.chat.users.merge(OPERATOR, { from: { user_id: from.id }, into: { user_id: into.id } })

  it('are all the last one, and each merge again returns the same', async () => {
    const { ada, a, b, c } = await begin()
    const { conversation_id } = await ada.conversations.create({ title: 'Engines' })
    await ada.participants.add(conversation_id, { user_id: a.id })
    await service.chat.messages.postRoot(await service.chat.users.actorOf(a.subject), conversation_id, {
      content: 'Does it run?',
    })
    const first = await merge(a, b)
    const second = await merge(b, c)
    for (const { id } of [a, b]) expect((await ada.users.get(id)).user.id).toBe(c.id)
    expect((await ada.users.search({ ids: [a.id, b.id, c.id].join() })).users.map(({ id }) => id)).toEqual([c.id])
    expect(await merge(a, c)).toEqual({ ...second, moved: first.moved })
    expect(await merge(b, c)).toEqual(second)
    const bySubject = { from: { subject: a.subject }, into: { subject: c.subject } }
    expect(await service.chat.users.merge(OPERATOR, bySubject)).toEqual({ ...second, moved: first.moved })
    // The user of before is one no longer.
    expect(await codeOf(merge(a, b))).toBe('not_found')
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  it('are none when the last one is erased', async () => {
    const { ada, a, b, c } = await begin()
    await merge(a, b)
    await merge(b, c)
    await service.chat.users.erase(OPERATOR, c.id, { messages: 'keep' })
    for (const { id } of [a, b, c]) expect(await codeOf(ada.users.get(id))).toBe('not_found')
    for (const from of [a, b]) expect(await codeOf(merge(from, { id: ada.id }))).toBe('not_found')
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })
})
