import { beforeAll, expect, it } from 'vitest'
import type { Actor } from '../../../lib/core/actor.ts'
import { OPERATOR } from '../../../lib/index.ts'
import { describeService } from '../../support/describe-service.ts'
import { type Person, patiently, startThread, times } from '../../support/service.ts'

/** More than a post notifies itself. */
const COUNT = 105

describeService('a reply of a thread with many followers', (service) => {
  let grace: Person
  let conversation_id: string
  let actors: Actor[]
  beforeAll(async () => {
    const world = await startThread(service)
    ;({ grace, conversation_id } = world)
    const { chat } = service
    actors = await Promise.all(
      times(COUNT, async (n) => {
        const { user } = await chat.users.ensure(OPERATOR, { subject: `${n}`, username: `follower${n}` })
        await patiently(() => world.ada.participants.add(conversation_id, { user_id: user.id }))
        return { user_id: user.id, roles: user.roles }
      }),
    )
  })

  const inboxes = () =>
    Promise.all(
      actors.map(async (actor) => {
        const { notifications } = await service.chat.notifications.list(actor, {})
        return notifications
          .filter(({ kind }) => kind === 'reply')
          .map(({ message_id, count, read_at }) => `${message_id} ${count ?? 'read'} ${read_at !== undefined}`)
      }),
    )

  it('notifies each of them soon, by one row that the next reply moves; not those who have read it, nor its author', async () => {
    const { chat } = service
    const { root_id } = await grace.messages.postRoot(conversation_id, { content: 'Does it run?' })
    for (const actor of actors) await chat.threads.follow(actor, root_id)
    const [first, ...others] = actors
    const { message_id } = await grace.messages.reply(root_id, { content: 'It runs.' })
    await service.idle()
    expect(await inboxes()).toEqual(actors.map(() => [`${message_id} 1 false`]))
    expect((await grace.notifications.list({})).notifications.filter(({ kind }) => kind === 'reply')).toEqual([])

    const { message_id: next } = await chat.messages.reply(first!, root_id, { content: 'Indeed.' })
    await chat.threads.markRead(first!, root_id, {})
    await service.idle()
    expect(await inboxes()).toEqual([[`${message_id} read true`], ...others.map(() => [`${next} 2 false`])])
    const listed = await grace.notifications.list({})
    expect(listed.notifications.filter(({ kind }) => kind === 'reply')).toMatchObject([{ message_id: next, count: 1 }])

    const { message_id: own } = await grace.messages.reply(next, { content: 'So it does.' })
    await service.idle()
    const [ofFirst, ...rest] = await inboxes()
    expect([ofFirst![0], ...new Set(rest.flat())]).toEqual([`${own} read false`, `${own} 3 false`])
  })

  it('notifies no follower of a reply that is deleted by then', async () => {
    const { chat } = service
    const { root_id } = await grace.messages.postRoot(conversation_id, { content: 'And this?' })
    for (const actor of actors) await chat.threads.follow(actor, root_id)
    const { message_id } = await grace.messages.reply(root_id, { content: 'A mistake' })
    await grace.messages.remove(message_id)
    await service.idle()
    const shown = (await inboxes()).flat().filter((row) => row.startsWith(message_id))
    expect(shown).toEqual([])
  })

  it('notifies them of one that was deleted or read before, once it is restored or marked as unread', async () => {
    const { chat } = service
    const { root_id } = await grace.messages.postRoot(conversation_id, { content: 'And that?' })
    for (const actor of actors) await chat.threads.follow(actor, root_id)
    const [first, ...others] = actors
    const { message_id } = await grace.messages.reply(root_id, { content: 'It runs.' })
    await grace.messages.remove(message_id)
    await chat.threads.markRead(first!, root_id, {})
    await service.idle()
    const of = async () => (await inboxes()).map((rows) => rows.filter((row) => row.startsWith(message_id)))
    expect((await of()).flat()).toEqual([])
    await grace.messages.restore(message_id)
    expect(await of()).toEqual([[`${message_id} read true`], ...others.map(() => [`${message_id} 1 false`])])
    await chat.threads.markUnread(first!, root_id, { message_id })
    expect(await of()).toEqual(actors.map(() => [`${message_id} 1 false`]))
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })
})
