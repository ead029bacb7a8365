import { beforeAll, expect, it } from 'vitest'
import { sql } from '../../../lib/storage/sql.ts'
import { describeService } from '../../support/describe-service.ts'
import { innerState, type Person } from '../../support/service.ts'
import { countAll } from './count-all.ts'

describeService('the numbers of a conversation', (service) => {
  let ada: Person
  let grace: Person
  let eve: Person
  beforeAll(async () => {
    ada = await service.signIn('ada')
    grace = await service.signIn('grace')
    eve = await service.signIn('eve')
  })

  const database = () => innerState(service.chat).db

  async function startThread(layout: 'stream' | 'topics' = 'stream') {
    const { conversation_id } = await ada.conversations.create({ layout })
    for (const { id } of [grace, eve]) await ada.participants.add(conversation_id, { user_id: id })
    const { root_id } = await ada.messages.postRoot(conversation_id, { content: 'Does it run?' })
    return { conversation_id, root_id }
  }

  /** `unread` and `unread_replies`, as both reads have them. */
  async function numbersOf(person: Person, conversation_id: string) {
    const { unread, unread_replies, total } = await person.threads.unread(conversation_id)
    const { conversations } = await person.conversations.list()
    expect(conversations.find(({ id }) => id === conversation_id)).toMatchObject({ unread, unread_replies })
    return [unread, unread_replies, total]
  }

  const rowOf = (person: Person, id: string) =>
    database().get(
      sql`SELECT c.root_count, p.seen_roots, p.seen_replies, p.followed_unread FROM participants p
          JOIN conversations c ON c.id = p.conversation_id WHERE p.conversation_id = ${id} AND p.user_id = ${person.id}`,
    )

  it('contain replies of followed threads from the time of following on, and in topics all', async () => {
    const { conversation_id, root_id } = await startThread()
    await grace.messages.reply(root_id, { content: 'It runs.' })
    expect(await numbersOf(ada, conversation_id)).toEqual([1, 1, 1])
    expect(await numbersOf(eve, conversation_id)).toEqual([1, 0, 2])
    await eve.threads.follow(root_id)
    await grace.messages.reply(root_id, { content: 'On steam.' })
    expect(await numbersOf(eve, conversation_id)).toEqual([2, 1, 3])
    await ada.conversations.rename(conversation_id, { layout: 'topics' })
    expect(await numbersOf(eve, conversation_id)).toEqual([3, 1, 3])
    await ada.conversations.rename(conversation_id, { layout: 'stream' })
    expect(await numbersOf(eve, conversation_id)).toEqual([2, 1, 3])
  })

  it('contain all replies of a direct conversation, for which no number of followed ones is stored', async () => {
    const { conversation_id } = await ada.conversations.direct({ user_id: grace.id })
    const { root_id } = await ada.messages.postRoot(conversation_id, { content: 'Hello' })
    await ada.messages.reply(root_id, { content: 'Are you there?' })
    expect(await numbersOf(grace, conversation_id)).toEqual([2, 1, 2])
    await grace.threads.unfollow(root_id)
    await ada.messages.reply(root_id, { content: 'No?' })
    expect(await numbersOf(grace, conversation_id)).toEqual([3, 2, 3])
    // None for a moment, if what counts in the background is just there.
    await expect.poll(() => rowOf(grace, conversation_id)).toMatchObject({ followed_unread: 0 })
  })

  it('leave it that both follow the threads of a direct conversation when they are counted', async () => {
    const { conversation_id } = await ada.conversations.direct({ user_id: eve.id })
    const { root_id } = await ada.messages.postRoot(conversation_id, { content: 'Hello' })
    await ada.messages.reply(root_id, { content: 'Are you there?' })
    await eve.messages.reply(root_id, { content: 'Yes' })
    await database().run(sql`UPDATE conversations SET counted_seq = NULL WHERE id = ${conversation_id}`)
    await countAll(innerState(service.chat))
    const { threads } = await eve.threads.listFollowed({ unread: true })
    expect(threads.find((thread) => thread.root_id === root_id)).toMatchObject({ unread_replies: 1 })
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  it('lose what is erased with its author, also before it is removed', async () => {
    const { conversation_id, root_id } = await startThread()
    const mallory = await service.signIn('mallory')
    await ada.participants.add(conversation_id, { user_id: mallory.id })
    await mallory.messages.postRoot(conversation_id, { content: 'Buy' })
    for (const content of ['Buy', 'Buy now']) await mallory.messages.reply(root_id, { content })
    await grace.messages.reply(root_id, { content: 'No' })
    expect(await numbersOf(ada, conversation_id)).toEqual([4, 3, 4])
    await database().write((tx) =>
      tx.run(sql`INSERT INTO erased_authors (user_id, messages, erased_at) VALUES (${mallory.id}, 'erase', 1)`),
    )
    expect(await numbersOf(ada, conversation_id)).toEqual([1, 1, 1])
    await database().write((tx) => tx.run(sql`DELETE FROM erased_authors WHERE user_id = ${mallory.id}`))
    await service.chat.users.erase({ user_id: '', roles: ['admin'] }, mallory.id, { messages: 'erase' })
    await service.idle()
    expect(await numbersOf(ada, conversation_id)).toEqual([1, 1, 1])
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  it('are right before and after they are counted, in rows of an older process', async () => {
    const { conversation_id, root_id } = await startThread()
    await grace.messages.reply(root_id, { content: 'It runs.' })
    const before = await Promise.all([ada, eve].map((person) => rowOf(person, conversation_id)))
    await database().write(async (tx) => {
      await tx.run(sql`UPDATE conversations SET root_count = NULL, counted_seq = NULL`)
      await tx.run(sql`UPDATE participants SET seen_roots = NULL, seen_replies = NULL, followed_unread = NULL`)
    })
    const isRight = async () => {
      expect(await numbersOf(ada, conversation_id)).toEqual([1, 1, 1])
      expect(await numbersOf(eve, conversation_id)).toEqual([1, 0, 2])
    }
    await isRight()
    await grace.messages.remove((await grace.messages.reply(root_id, { content: 'Or not' })).message_id)
    await isRight()
    expect((await service.chat.ops.fsck()).findings).toEqual([])
    await countAll(innerState(service.chat))
    await isRight()
    const counted = await Promise.all([ada, eve].map((person) => rowOf(person, conversation_id)))
    expect(counted).toEqual(before)
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  it('follow an author whose message an older process has stored, while it is there', async () => {
    const { conversation_id, root_id } = await startThread()
    const { message_id } = await eve.messages.reply(root_id, { content: 'It runs.' })
    await grace.messages.reply(root_id, { content: 'On steam.' })
    await database().write(async (tx) => {
      await tx.run(sql`UPDATE thread_members SET followed_at = NULL WHERE user_id = ${eve.id} AND root_id = ${root_id}`)
      await tx.run(sql`UPDATE conversations SET counted_seq = NULL WHERE id = ${conversation_id}`)
    })
    await eve.messages.remove(message_id)
    await countAll(innerState(service.chat))
    expect(await numbersOf(eve, conversation_id)).toEqual([1, 0, 2])
    await eve.messages.restore(message_id)
    await grace.messages.reply(root_id, { content: 'Look.' })
    expect(await numbersOf(eve, conversation_id)).toEqual([3, 2, 3])
    expect((await service.chat.ops.fsck()).findings).toEqual([])
    await database().write(async (tx) => {
      await tx.run(sql`UPDATE thread_members SET followed_at = NULL WHERE user_id = ${eve.id} AND root_id = ${root_id}`)
      await tx.run(sql`UPDATE conversations SET counted_seq = NULL WHERE id = ${conversation_id}`)
    })
    await countAll(innerState(service.chat))
    expect(await numbersOf(eve, conversation_id)).toEqual([3, 2, 3])
    await grace.messages.reply(root_id, { content: 'There.' })
    expect(await numbersOf(eve, conversation_id)).toEqual([4, 3, 4])
    await eve.messages.remove(message_id)
    expect(await numbersOf(eve, conversation_id)).toEqual([4, 3, 4])
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })
})
