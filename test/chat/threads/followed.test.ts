import { beforeAll, expect, it } from 'vitest'
import { listFollowedThreads } from '../../../lib/chat/unread/listing.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { describeService } from '../../support/describe-service.ts'
import { codeOf, innerState, type Person } from '../../support/service.ts'
import { countAll } from '../unread/count-all.ts'

describeService('the list of followed threads', (service) => {
  let ada: Person
  let grace: Person
  let people = 0
  beforeAll(async () => {
    ada = await service.signIn('ada')
  })

  async function newPerson() {
    const username = `person${people++}`
    return { username, ...(await service.signIn(username)) }
  }

  /** A conversation of ada and a new user, and threads of ada in it, with a reply of the user to each. */
  async function startThreads(count: number) {
    grace = await newPerson()
    const { conversation_id } = await ada.conversations.create()
    await ada.participants.add(conversation_id, { user_id: grace.id })
    const root_ids: string[] = []
    for (let n = 0; n < count; n++) {
      const { root_id } = await ada.messages.postRoot(conversation_id, { content: `root ${n}` })
      await grace.messages.reply(root_id, { content: `reply ${n}` })
      root_ids.push(root_id)
    }
    return { conversation_id, root_ids }
  }

  const listed = async (person: Person, query = {}) =>
    (await person.threads.listFollowed(query)).threads.map(({ root_id }) => root_id)

  it('has threads with a reply, over all conversations, latest activity first', async () => {
    const first = await startThreads(2)
    const reader = grace
    const { conversation_id } = await reader.conversations.create()
    await reader.participants.add(conversation_id, { user_id: ada.id })
    const { root_id } = await reader.messages.postRoot(conversation_id, { content: 'elsewhere' })
    expect(await listed(reader)).toEqual(first.root_ids.toReversed())
    const { message_id } = await ada.messages.reply(root_id, { content: 'here' })
    expect(await listed(reader)).toEqual([root_id, ...first.root_ids.toReversed()])
    await ada.messages.reply(first.root_ids[0]!, { content: 'again' })
    const { threads, unread } = await reader.threads.listFollowed({})
    expect(unread).toBe(2)
    expect(threads).toMatchObject([
      {
        root_id: first.root_ids[0],
        conversation_id: first.conversation_id,
        following: true,
        unread_replies: 1,
        unread: 2,
      },
      { root_id, conversation_id, root_excerpt: 'elsewhere', unread_replies: 1, message_count: 2 },
      { root_id: first.root_ids[1], unread_replies: 0 },
    ])
    const { messages } = await reader.threads.messages(root_id, {})
    expect(threads[1]!.last_reply_at).toBe(messages[0]!.created_at)
    const { threads: ofConversation } = await reader.threads.list(conversation_id)
    expect(ofConversation).toEqual([threads[1]])

    await ada.messages.remove(message_id)
    expect(await listed(reader)).toEqual(first.root_ids)
    expect((await reader.threads.listFollowed({})).unread).toBe(1)
    await ada.messages.restore(message_id)
    expect(await listed(reader)).toContain(root_id)
    expect((await reader.threads.listFollowed({})).unread).toBe(2)
  })

  it('begins with following and ends with it, and with leaving', async () => {
    const { conversation_id, root_ids } = await startThreads(3)
    const eve = await newPerson()
    await ada.participants.add(conversation_id, { user_id: eve.id })
    expect(await listed(eve)).toEqual([])
    await eve.threads.follow(root_ids[1]!)
    await ada.messages.reply(root_ids[0]!, { content: `@${eve.username} look` })
    expect(await listed(eve)).toEqual([root_ids[0], root_ids[1]])
    // The reply that mentions eve counts, what was there before she followed does not.
    expect(await listed(eve, { unread: true })).toEqual([root_ids[0]])
    expect((await eve.threads.listFollowed({})).unread).toBe(1)
    await eve.threads.unfollow(root_ids[0]!)
    expect(await listed(eve)).toEqual([root_ids[1]])
    await ada.messages.reply(root_ids[0]!, { content: `@${eve.username} look` })
    expect(await listed(eve)).toEqual([root_ids[1]])
    await eve.participants.remove(conversation_id, eve.id)
    expect(await eve.threads.listFollowed({})).toEqual({ threads: [], unread: 0 })
    await ada.participants.add(conversation_id, { user_id: eve.id })
    expect(await listed(eve)).toEqual([])
    await eve.messages.reply(root_ids[2]!, { content: 'back' })
    expect(await listed(eve)).toEqual([root_ids[2]])
    expect(await listed(eve, { unread: true })).toEqual([])
  })

  it('follows the mention of an edit, from the message on', async () => {
    const { conversation_id, root_ids } = await startThreads(1)
    const eve = await newPerson()
    await ada.participants.add(conversation_id, { user_id: eve.id })
    const { message_id } = await ada.messages.reply(root_ids[0]!, { content: 'look' })
    await ada.messages.edit(message_id, { content: `look, @${eve.username}` })
    expect(await listed(eve, { unread: true })).toEqual(root_ids)
  })

  it('has all threads of a direct conversation, for both users', async () => {
    await startThreads(0)
    const [one, other] = [ada, grace]
    const { conversation_id } = await one.conversations.direct({ user_id: other.id })
    const { root_id } = await one.messages.postRoot(conversation_id, { content: 'hello' })
    expect(await listed(other)).toEqual([])
    await one.messages.reply(root_id, { content: 'again' })
    expect((await listed(one))[0]).toBe(root_id)
    expect(await listed(one, { unread: true })).not.toContain(root_id)
    expect(await listed(other, { unread: true })).toEqual([root_id])
  })

  it('has as unread what marks leave unread', async () => {
    const { conversation_id, root_ids } = await startThreads(4)
    const [a, b, c, d] = root_ids as [string, string, string, string]
    const news = () => listed(ada, { unread: true }).then((ids) => ids.filter((id) => root_ids.includes(id)))
    expect(await news()).toEqual([d, c, b, a])
    await ada.threads.markRead(c)
    expect(await news()).toEqual([d, b, a])
    await ada.conversations.markRead(conversation_id, {})
    expect(await news()).toEqual([d, b, a])
    await ada.conversations.markRead(conversation_id, { all: true })
    expect(await news()).toEqual([])
    const { messages } = await ada.threads.messages(b, {})
    await ada.threads.markUnread(b, { message_id: messages[0]!.id })
    expect(await news()).toEqual([b])
    await ada.messages.reply(a, { content: 'own' })
    expect(await news()).toEqual([b])
    await grace.messages.reply(a, { content: 'news' })
    await grace.messages.reply(b, { content: 'news' })
    expect(await news()).toEqual([b, a])
    const { unread } = await ada.threads.listFollowed({ limit: 1 })
    expect(await listed(ada, { unread: true, limit: 200 })).toHaveLength(unread)
  })

  it('pages without a repeat or a loss of threads that stay, and refuses cursors of other lists', async () => {
    const { root_ids } = await startThreads(7)
    const pages: string[] = []
    for (let after: string | undefined, turn = 0; turn === 0 || after; turn++) {
      const page = await grace.threads.listFollowed({ limit: 2, ...(after && { after }) })
      pages.push(...page.threads.map(({ root_id }) => root_id))
      after = page.next_after
      // To the front, after the first page.
      if (turn === 0) await ada.messages.reply(root_ids[1]!, { content: 'moves' })
    }
    expect(pages).toEqual([6, 5, 4, 3, 2, 0].map((n) => root_ids[n]))

    const { next_after: after } = await grace.threads.listFollowed({ limit: 1 })
    expect(await codeOf(grace.threads.listFollowed({ after: after!, unread: true }))).toBe('invalid_cursor')
    const { next_after: other } = await ada.conversations.list({ limit: 1 })
    expect(await codeOf(grace.threads.listFollowed({ after: other! }))).toBe('invalid_cursor')
    expect(await codeOf(grace.threads.listFollowed({ after: 'followed_1_x' }))).toBe('invalid_cursor')
  })

  it('gets what a process has stored that knows no list', async () => {
    const { conversation_id, root_ids } = await startThreads(2)
    const database = innerState(service.chat).db
    const before = await grace.threads.listFollowed({})
    await database.run(
      sql`UPDATE thread_members SET listed_in = NULL, listed_at = NULL, news_at = NULL WHERE user_id = ${grace.id}`,
    )
    await database.run(sql`UPDATE threads SET listed_to = 0 WHERE conversation_id = ${conversation_id}`)
    await database.run(sql`UPDATE conversations SET counted_seq = NULL WHERE id = ${conversation_id}`)
    expect(await listed(grace)).toEqual([])
    // A reply of this version leaves the rest to the job.
    await ada.messages.reply(root_ids[0]!, { content: 'news' })
    await listFollowedThreads(innerState(service.chat))
    expect(await listed(grace)).toEqual(root_ids)
    expect((await grace.threads.listFollowed({})).unread).toBe(before.unread + 1)
    await countAll(innerState(service.chat))
    expect((await grace.threads.listFollowed({})).unread).toBe(before.unread + 1)
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })
})
