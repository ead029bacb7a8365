import { beforeAll, describe, expect, it } from 'vitest'
import { OPERATOR } from '../../lib/index.ts'
import { sql } from '../../lib/storage/sql.ts'
import { describeService } from '../support/describe-service.ts'
import { codeOf, innerState, PASSWORD, type Person } from '../support/service.ts'
import { openStream, signInByHand } from '../support/stream.ts'

describeService('users who are merged', { config: { session: { max_sessions_per_user: 100 } } }, (service) => {
  let ada: Person
  let n = 0
  beforeAll(async () => {
    ada = await service.signIn('ada')
  })

  const users = (from: { id: string }, into: { id: string }) => ({
    from: { user_id: from.id },
    into: { user_id: into.id },
  })
  const merge = (from: { id: string }, into: { id: string }) => service.chat.users.merge(OPERATOR, users(from, into))

  /** A conversation of Ada with Eve, who is merged, and of Grace only if she `participates`. */
  async function begin({ participates = false } = {}) {
    const [eve, grace] = [await service.signIn(`eve-${n}`), await service.signIn(`grace-${n++}`)]
    const { conversation_id } = await ada.conversations.create({ title: 'Engines', layout: 'topics' })
    for (const { id } of participates ? [eve, grace] : [eve])
      await ada.participants.add(conversation_id, { user_id: id })
    return { eve, grace, conversation_id }
  }

  it('become one, with the messages, reactions, mentions, pins and participations of both', async () => {
    const { eve, grace, conversation_id } = await begin({ participates: true })
    const { username } = (await eve.auth.me()).user
    const { root_id, message_id } = await eve.messages.postRoot(conversation_id, { content: 'Does it run?' })
    const answer = await ada.messages.reply(message_id, { content: `It does, @${username}.` })
    for (const person of [eve, grace]) await person.reactions.add(answer.message_id, '👍')
    await eve.pins.add(answer.message_id)
    await grace.messages.reply(answer.message_id, { content: 'Fine.' })
    const merged = await merge(eve, grace)
    expect(merged).toMatchObject({ user: { id: grace.id }, moved: { messages: 1, conversations: 1 } })
    const { messages } = await grace.threads.tree(root_id)
    expect(messages.map(({ author_user_id }) => author_user_id)).toEqual([grace.id, ada.id, grace.id])
    expect(messages[1]).toMatchObject({
      mentions: { user_ids: [grace.id] },
      reactions: [{ count: 1, user_ids: [grace.id] }],
      reacted: ['👍'],
      pinned: { by: grace.id },
    })
    const { threads } = await grace.threads.list(conversation_id)
    expect(threads[0]).toMatchObject({ participant_count: 2, unread: 1, last_replier_ids: [grace.id, ada.id] })
    expect((await ada.conversations.get(conversation_id)).participants.map(({ user_id }) => user_id)).toEqual([
      ada.id,
      grace.id,
    ])
    expect(await codeOf(eve.auth.me())).toBe('unauthenticated')
    expect((await service.chat.ops.fsck()).findings).toEqual([])
    // The former id is that of the other user.
    expect((await ada.users.get(eve.id)).user.id).toBe(grace.id)
    expect((await ada.users.search({ ids: `${eve.id},${ada.id},${grace.id}` })).users.map(({ id }) => id)).toEqual([
      grace.id,
      ada.id,
    ])
    // Again: the same.
    expect(await merge(eve, grace)).toEqual(merged)
    expect(await codeOf(merge(eve, ada))).toBe('not_found')
    const { entries } = await ada.audit.list({ act: 'user.merged', user_id: eve.id })
    expect(entries).toMatchObject([
      { subject_id: grace.id, detail: { user_id: eve.id, messages: 1, conversations: 1 } },
    ])
  })

  it('have the chats of both; where both use a name, that of the other one stays', async () => {
    const { eve, grace, conversation_id } = await begin({ participates: true })
    const root = await ada.messages.postRoot(conversation_id, { content: 'x' })
    const { db } = innerState(service)
    for (const [person, name] of [
      [eve, 'trip'],
      [eve, 'both'],
      [grace, 'both'],
    ] as const)
      await db.run(
        sql`INSERT INTO chats (user_id, name, conversation_id, root_id, created_at)
          VALUES (${person.id}, ${name}, ${conversation_id}, ${root.root_id}, 1)`,
      )
    await merge(eve, grace)
    const chats = await db.all(sql`SELECT user_id, name FROM chats WHERE root_id = ${root.root_id} ORDER BY name`)
    expect(chats).toEqual(['both', 'trip'].map((name) => ({ user_id: grace.id, name })))
    await ada.conversations.remove(conversation_id)
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  it('have the higher role of both, the earlier joining, and read what either has read', async () => {
    const { eve, grace, conversation_id } = await begin()
    const first = await ada.messages.postRoot(conversation_id, { content: 'One' })
    await ada.participants.add(conversation_id, { user_id: grace.id, role: 'viewer' })
    const second = await ada.messages.postRoot(conversation_id, { content: 'Two' })
    const third = await ada.messages.postRoot(conversation_id, { content: 'Three' })
    await eve.threads.markRead(first.root_id)
    await grace.threads.markRead(second.root_id)
    await merge(eve, grace)
    const place = await grace.conversations.get(conversation_id)
    expect(place.participants.find(({ user_id }) => user_id === grace.id)).toMatchObject({ role: 'member' })
    const { threads, total } = await grace.threads.unread(conversation_id)
    expect([total, threads.map(({ root_id }) => root_id)]).toEqual([1, [third.root_id]])
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  it('follow a thread since it began if either has begun it, whenever the other began to follow it', async () => {
    for (const isBegunByMerged of [true, false]) {
      const { eve, grace, conversation_id } = await begin({ participates: true })
      const [author, other] = isBegunByMerged ? [eve, grace] : [grace, eve]
      const { root_id } = await author.messages.postRoot(conversation_id, { content: 'Does it run?' })
      await ada.messages.reply(root_id, { content: 'It runs.' })
      await other.messages.reply(root_id, { content: 'Good.' })
      await ada.messages.reply(root_id, { content: 'It stands still.' })
      await merge(eve, grace)
      const [followed] = (await grace.threads.listFollowed()).threads
      expect(followed).toMatchObject({ root_id, following: true, unread_replies: 2 })
      expect((await service.chat.ops.fsck()).findings).toEqual([])
    }
  })

  it('are named by events of each conversation, for streams and for replays', async () => {
    const { eve, grace, conversation_id } = await begin()
    await eve.messages.postRoot(conversation_id, { content: 'Hello' })
    const { cookie } = await signInByHand(service.base_url, eve.email, PASSWORD)
    const own = await openStream(service.base_url, conversation_id, { cookie })
    await own.until('stream.ready')
    const watched = await openStream(
      service.base_url,
      conversation_id,
      await signInByHand(service.base_url, ada.email, PASSWORD),
    )
    await watched.until('stream.ready')
    await merge(eve, grace)
    await own.until('stream.closed')
    const { event } = (await watched.until('user.merged')).at(-1)!
    expect(event.payload).toMatchObject({
      conversation_id,
      from_user_id: eve.id,
      user: { id: grace.id, kind: 'person' },
    })
    const log = await innerState(service.chat).db.all<{ type: string; user_id: string; detail: string }>(
      sql`SELECT type, user_id, detail FROM events WHERE conversation_id = ${conversation_id} ORDER BY seq DESC LIMIT 3`,
    )
    expect(log.reverse().map(({ type, user_id }) => [type, user_id])).toEqual([
      ['user.merged', grace.id],
      ['membership.changed', eve.id],
      ['membership.changed', grace.id],
    ])
  })

  describe('in direct conversations', () => {
    it('keep that of the one, or have an ordinary one where the other person has one with both', async () => {
      const [eve, grace] = [await service.signIn(`eve-${n}`), await service.signIn(`grace-${n++}`)]
      const linus = await service.signIn(`linus-${n}`)
      const { conversation_id } = await ada.conversations.create()
      for (const { id } of [eve, grace, linus]) await ada.participants.add(conversation_id, { user_id: id })
      const ofEve = await eve.conversations.direct({ user_id: ada.id })
      await ada.messages.postRoot(ofEve.conversation_id, { content: 'Hello' })
      const both = [
        await eve.conversations.direct({ user_id: linus.id }),
        await grace.conversations.direct({ user_id: linus.id }),
      ]
      await linus.messages.postRoot(both[0]!.conversation_id, { content: 'Are you there?' })
      const between = await eve.conversations.direct({ user_id: grace.id })
      await eve.messages.postRoot(between.conversation_id, { content: 'It is me' })
      await merge(eve, grace)
      expect((await grace.conversations.direct({ user_id: ada.id })).conversation_id).toBe(ofEve.conversation_id)
      expect((await grace.conversations.direct({ user_id: linus.id })).conversation_id).toBe(both[1]!.conversation_id)
      const former = await linus.conversations.get(both[0]!.conversation_id)
      expect(former).toMatchObject({ title: expect.stringContaining('eve'), frozen_at: expect.any(String) })
      expect(former).not.toHaveProperty('direct')
      expect(former.participants.map(({ user_id }) => user_id).sort()).toEqual([grace.id, linus.id].sort())
      expect((await grace.conversations.direct({ user_id: grace.id })).conversation_id).toBe(between.conversation_id)
      expect((await service.chat.ops.fsck()).findings).toEqual([])
    })

    it('leave a guest no more than a member, and a bot no owner, of the ordinary one that is left of two', async () => {
      const [eve, grace] = [await service.signIn(`eve-${n}`), await service.signIn(`grace-${n++}`)]
      const guest = (await service.chat.users.ensure(OPERATOR, { subject: `guest-${n}`, roles: ['guest'] })).user
      const { bot } = await ada.bots.create({ username: `bot-${n}` })
      const { conversation_id } = await ada.conversations.create()
      for (const { id } of [eve, grace, guest, bot]) await ada.participants.add(conversation_id, { user_id: id })
      const rooms: { id: string; user_id: string; role: string }[] = []
      for (const [other, role] of [
        [guest, 'member'],
        [bot, 'admin'],
      ] as const) {
        const left = await eve.conversations.direct({ user_id: other.id })
        await grace.conversations.direct({ user_id: other.id })
        rooms.push({ id: left.conversation_id, user_id: other.id, role })
      }
      await merge(eve, grace)
      for (const { id, user_id, role } of rooms) {
        const { participants } = await grace.conversations.get(id)
        const roles = participants.map((each) => [each.user_id, each.role])
        expect(new Map(roles as [string, string][])).toEqual(
          new Map([
            [grace.id, 'owner'],
            [user_id, role],
          ]),
        )
        const { db } = innerState(service.chat)
        const last = await db.get(
          sql`SELECT user_id, detail FROM events WHERE conversation_id = ${id} AND type = 'membership.changed'
                AND user_id = ${user_id} ORDER BY seq DESC LIMIT 1`,
        )
        expect(last).toEqual({ user_id, detail: JSON.stringify({ role, action: 'role_updated' }) })
      }
      expect((await service.chat.ops.fsck()).findings).toEqual([])
    })
  })

  it('are refused where one is an administrator, disabled or a part of the host, or both are one', async () => {
    const { eve, grace } = await begin()
    expect(await codeOf(merge(eve, eve))).toBe('conflict')
    expect(await codeOf(merge(ada, grace))).toBe('conflict')
    const bot = await service.chat.system('bot')
    expect(await codeOf(merge({ id: bot.user_id }, grace))).toBe('conflict')
    expect(await codeOf(merge(eve, { id: '01980a3c-6f0f-7a10-8b20-0c4f1d2e3a4f' }))).toBe('not_found')
    expect(await codeOf(service.chat.users.merge(bot, users(eve, grace)))).toBe('forbidden')
    await ada.users.change(grace.id, { disabled: true })
    expect(await codeOf(merge(eve, grace))).toBe('conflict')
  })

  it('are people of a host, by its own ids, also again', async () => {
    const { chat } = service
    for (const subject of ['42', '43']) await chat.users.ensure(OPERATOR, { subject: `${n}-${subject}` })
    const input = { from: { subject: `${n}-42` }, into: { subject: `${n}-43` } }
    const merged = await chat.users.merge(OPERATOR, input)
    expect(await chat.users.merge(OPERATOR, input)).toEqual(merged)
    expect(await codeOf(chat.users.actorOf(`${n}-42`))).toBe('not_found')
  })

  it('lose no post of the one that arrives at the same time: it is moved, or refused as of one not signed in', async () => {
    for (let run = 0; run < 5; run++) {
      const { eve, grace, conversation_id } = await begin()
      const actor = await service.chat.users.actor(eve.id)
      const post = (content: string) =>
        service.chat.messages.postRoot(actor, conversation_id, { content }).then(
          () => 'stored',
          (error) => error.code,
        )
      const posts = ['1', '2', '3', '4', '5'].map(post)
      const [, ...results] = await Promise.all([merge(eve, grace), ...posts, ...['6', '7', '8'].map(post)])
      expect(results.filter((result) => result !== 'stored' && result !== 'unauthenticated')).toEqual([])
      expect(await post('later')).toBe('unauthenticated')
      const { messages } = await grace.messages.list(conversation_id)
      expect(messages.filter(({ author_user_id }) => author_user_id === grace.id)).toHaveLength(
        results.filter((result) => result === 'stored').length,
      )
    }
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  it('participate where one was added at the same time', async () => {
    const { eve, grace } = await begin()
    const rooms = await Promise.all([1, 2, 3, 4].map(() => ada.conversations.create()))
    const adding = rooms.map(({ conversation_id }) =>
      ada.participants.add(conversation_id, { user_id: eve.id }).then(
        () => conversation_id,
        () => undefined,
      ),
    )
    const [, ...added] = await Promise.all([merge(eve, grace), ...adding])
    for (const id of added) if (id) expect((await grace.conversations.get(id)).id).toBe(id)
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })
})
