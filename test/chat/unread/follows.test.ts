import { beforeAll, expect, it } from 'vitest'
import { clearFollowed } from '../../../lib/chat/unread/store-follows.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { describeService } from '../../support/describe-service.ts'
import { codeOf, innerState, PASSWORD, type Person } from '../../support/service.ts'
import { openStream, signInByHand } from '../../support/stream.ts'

describeService('followed threads', (service) => {
  let ada: Person
  let grace: Person
  let eve: Person
  beforeAll(async () => {
    ada = await service.signIn('ada')
    grace = await service.signIn('grace')
    eve = await service.signIn('eve')
  })

  const database = () => innerState(service.chat).db

  /** A conversation of all three, and a thread of ada in it. */
  async function startThread(content = 'Does it run?') {
    const { conversation_id } = await ada.conversations.create()
    for (const { id } of [grace, eve]) await ada.participants.add(conversation_id, { user_id: id })
    const { root_id } = await ada.messages.postRoot(conversation_id, { content })
    return { conversation_id, root_id }
  }

  /** Whether each of the persons follows the thread, as both lists have it. */
  async function followers(conversation_id: string, root_id: string) {
    const names: string[] = []
    for (const [name, person] of Object.entries({ ada, grace, eve })) {
      const { threads } = await person.threads.list(conversation_id)
      const { messages } = await person.messages.list(conversation_id)
      const listed = threads.find((thread) => thread.root_id === root_id)!
      const { thread } = messages.find(({ id }) => id === root_id)!
      expect(thread).toMatchObject({ following: listed.following, unread_replies: listed.unread_replies })
      if (listed.following) names.push(name)
    }
    return names
  }

  const rows = async (rootId: string) =>
    database().all<{ user_id: string; followed_at: number | null }>(
      sql`SELECT user_id, followed_at FROM thread_members WHERE root_id = ${rootId}`,
    )

  it('are those in which one has written, without a row or a time for the author of the root', async () => {
    const { conversation_id, root_id } = await startThread()
    expect(await followers(conversation_id, root_id)).toEqual(['ada'])
    expect(await rows(root_id)).toEqual([{ user_id: ada.id, followed_at: null }])
    const { message_id } = await grace.messages.reply(root_id, { content: 'It runs.' })
    expect(await followers(conversation_id, root_id)).toEqual(['ada', 'grace'])
    await grace.messages.remove(message_id)
    expect(await followers(conversation_id, root_id)).toEqual(['ada', 'grace'])
  })

  it('are those that mention a user by name, not as one of all, also by an edit', async () => {
    const { conversation_id, root_id } = await startThread('For @grace')
    expect(await followers(conversation_id, root_id)).toEqual(['ada', 'grace'])
    const { message_id } = await ada.messages.reply(root_id, { content: '@all look' })
    expect(await followers(conversation_id, root_id)).toEqual(['ada', 'grace'])
    await ada.messages.edit(message_id, { content: '@all look, @eve too' })
    expect(await followers(conversation_id, root_id)).toEqual(['ada', 'grace', 'eve'])
    expect((await rows(root_id)).every(({ followed_at }) => followed_at === null || followed_at > 0)).toBe(true)
  })

  it('end by a wish, until a later reply of the user: a mention is not enough', async () => {
    const { conversation_id, root_id } = await startThread()
    await ada.threads.unfollow(root_id)
    await ada.threads.unfollow(root_id)
    expect(await followers(conversation_id, root_id)).toEqual([])
    await grace.messages.reply(root_id, { content: 'ping @ada' })
    expect(await followers(conversation_id, root_id)).toEqual(['grace'])
    await ada.messages.reply(root_id, { content: 'pong' })
    expect(await followers(conversation_id, root_id)).toEqual(['ada', 'grace'])
    await eve.threads.follow(root_id)
    const before = await rows(root_id)
    await eve.threads.follow(root_id)
    expect(await rows(root_id)).toEqual(before)
    expect(await followers(conversation_id, root_id)).toEqual(['ada', 'grace', 'eve'])
  })

  it('end, and so do wishes, when the user leaves', async () => {
    const { conversation_id, root_id } = await startThread()
    await grace.threads.follow(root_id)
    await eve.threads.unfollow(root_id)
    for (const person of [grace, eve]) {
      await person.participants.remove(conversation_id, person.id)
      expect(await codeOf(person.threads.follow(root_id))).toBe('not_found')
      await ada.participants.add(conversation_id, { user_id: person.id })
    }
    expect(await followers(conversation_id, root_id)).toEqual(['ada'])
    await ada.messages.reply(root_id, { content: 'welcome @eve' })
    expect(await followers(conversation_id, root_id)).toEqual(['ada', 'eve'])
  })

  it('are cleared soon after the user leaves, but for what is followed since joining again', async () => {
    const { conversation_id, root_id } = await startThread()
    const others: string[] = []
    for (const content of ['Look @grace', 'And here', 'Not here'])
      others.push((await ada.messages.postRoot(conversation_id, { content })).root_id)
    await grace.messages.reply(root_id, { content: 'It runs.' })
    await grace.threads.unfollow(others[2]!)
    const ofGrace = () =>
      database().all<{ root_id: string }>(
        sql`SELECT r.root_id, r.followed_at, r.listed_in, r.listed_at, r.news_at FROM thread_members r
              JOIN threads t ON t.root_id = r.root_id
             WHERE t.conversation_id = ${conversation_id} AND r.user_id = ${grace.id}
               AND (r.followed_at IS NOT NULL OR r.listed_at IS NOT NULL OR r.listed_in IS NOT NULL OR r.news_at IS NOT NULL)`,
      )
    expect(await ofGrace()).toHaveLength(3)
    await grace.participants.remove(conversation_id, grace.id)
    await service.idle()
    expect(await ofGrace()).toEqual([])
    expect((await service.chat.ops.fsck()).findings).toEqual([])

    await ada.participants.add(conversation_id, { user_id: grace.id })
    for (const id of [root_id, ...others.slice(0, 2)]) await grace.threads.follow(id)
    await grace.participants.remove(conversation_id, grace.id)
    await ada.participants.add(conversation_id, { user_id: grace.id })
    await grace.threads.follow(root_id)
    await grace.threads.unfollow(others[0]!)
    await service.idle()
    expect((await ofGrace()).map((row) => row.root_id).sort()).toEqual([root_id, others[0]!].sort())
    const { threads } = await grace.threads.listFollowed()
    expect(threads.flatMap((thread) => (thread.conversation_id === conversation_id ? thread.root_id : []))).toEqual([
      root_id,
    ])
    await ada.messages.reply(others[0]!, { content: 'Look @grace' })
    expect(await followers(conversation_id, others[0]!)).toEqual(['ada'])
  })

  it('are cleared in steps, in a conversation of many threads', async () => {
    const { conversation_id } = await startThread()
    for (let n = 0; n < 5; n++) await ada.messages.postRoot(conversation_id, { content: `Look @grace ${n}` })
    const reader = { user_id: grace.id, conversation_id }
    await database().write((tx) =>
      tx.run(sql`DELETE FROM participants WHERE user_id = ${grace.id}
      AND conversation_id = ${conversation_id}`),
    )
    const left = async () =>
      (await database().get<{ total: number }>(
        sql`SELECT count(*) AS total FROM thread_members r JOIN threads t ON t.root_id = r.root_id
             WHERE t.conversation_id = ${conversation_id} AND r.user_id = ${grace.id} AND r.followed_at IS NOT NULL`,
      ))!.total
    const counts: number[] = []
    for (let after: number | undefined = 0; after !== undefined; counts.push(await left()))
      after = await database().write((tx) => clearFollowed(tx, reader, { after: after!, limit: 2 }))
    expect(counts).toEqual([4, 2, 0, 0])
    await database().write((tx) =>
      tx.run(sql`UPDATE conversations SET participant_count = participant_count - 1
      WHERE id = ${conversation_id}`),
    )
  })

  it('are all of a direct conversation, for both', async () => {
    const { conversation_id } = await ada.conversations.direct({ user_id: grace.id })
    const { root_id } = await ada.messages.postRoot(conversation_id, { content: 'hello' })
    const following = async () =>
      Promise.all(
        [ada, grace].map(async (person) => (await person.threads.list(conversation_id)).threads[0]!.following),
      )
    expect(await following()).toEqual([true, true])
    await grace.threads.unfollow(root_id)
    expect(await following()).toEqual([true, false])
    await grace.messages.reply(root_id, { content: 'hello' })
    expect(await following()).toEqual([true, true])
    expect((await rows(root_id)).filter(({ user_id }) => user_id === ada.id)).toEqual([
      { user_id: ada.id, followed_at: null },
    ])
  })

  it('are those of an older row with messages of the user, since joining', async () => {
    const { conversation_id, root_id } = await startThread()
    await grace.messages.reply(root_id, { content: 'It runs.' })
    await database().run(sql`UPDATE thread_members SET followed_at = NULL WHERE root_id = ${root_id}`)
    expect(await followers(conversation_id, root_id)).toEqual(['ada', 'grace'])
    await grace.participants.remove(conversation_id, grace.id)
    await ada.participants.add(conversation_id, { user_id: grace.id })
    expect(await followers(conversation_id, root_id)).toEqual(['ada'])
  })

  it('are told to the streams of the user alone, once for a change', async () => {
    const { conversation_id, root_id } = await startThread()
    const open = async ({ email }: Person) => {
      const { cookie } = await signInByHand(service.base_url, email, PASSWORD)
      const stream = await openStream(service.base_url, conversation_id, { cookie })
      await stream.until('stream.ready')
      return stream
    }
    const [ofAda, ofGrace, ofEve] = [await open(ada), await open(grace), await open(eve)]
    await grace.messages.reply(root_id, { content: 'It runs, @eve.' })
    await grace.messages.reply(root_id, { content: 'It runs, @eve.' })
    await eve.threads.follow(root_id)
    await ada.threads.unfollow(root_id)
    await ada.threads.unfollow(root_id)
    await ada.threads.follow(root_id)
    for (const person of [grace, eve]) await person.threads.unfollow(root_id)

    const told = async (stream: Awaited<ReturnType<typeof open>>) => {
      const payloads: unknown[] = []
      while (payloads.length < 2) {
        const { event } = (await stream.next())!
        if (event.type === 'thread.followed') payloads.push(event.payload)
      }
      await stream.close()
      return payloads
    }
    const thread = { conversation_id, root_id }
    expect(await told(ofAda)).toEqual([
      { ...thread, following: false, unread_replies: 2 },
      { ...thread, following: true, unread_replies: 2 },
    ])
    expect(await told(ofGrace)).toEqual([
      { ...thread, following: true, unread_replies: 0 },
      { ...thread, following: false, unread_replies: 0 },
    ])
    expect(await told(ofEve)).toEqual([
      { ...thread, following: true, unread_replies: 1 },
      { ...thread, following: false, unread_replies: 2 },
    ])
  })
})
