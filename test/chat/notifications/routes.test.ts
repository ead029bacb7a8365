import { beforeAll, expect, it } from 'vitest'
import { sql } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { setUpService } from '../../support/describe-service.ts'
import { innerState, type Person, startService } from '../../support/service.ts'

describeOnEachDatabase('the inbox', (openUrl) => {
  let url: string
  const service = setUpService(async () => {
    url = await openUrl()
    return startService(url)
  })
  let ada: Person
  let grace: Person
  let bob: Person
  let eve: Person
  let group: string

  beforeAll(async () => {
    ada = await service.signIn('ada')
    grace = await service.signIn('grace')
    await grace.auth.changeProfile({ username: 'Grace Hopper' })
    bob = await service.signIn('bob')
    eve = await service.signIn('eve')
  })

  /** A conversation of ada with these, whose inboxes are empty. */
  async function gather(...others: Person[]): Promise<void> {
    group = (await ada.conversations.create({ title: 'Engines' })).conversation_id
    for (const each of others) await ada.participants.add(group, { user_id: each.id })
    for (const each of [ada, ...others]) await readAll(each)
  }

  async function readAll(person: Person): Promise<void> {
    const { notifications } = await person.notifications.list()
    if (notifications[0]) await person.notifications.markRead({ up_to: notifications[0].id })
  }

  const unread = async (person: Person) => (await person.notifications.list({ unread: true })).notifications
  const kinds = async (person: Person) => (await unread(person)).map(({ kind }) => kind)

  it('has a mention, with who wrote it, where, and the beginning of the text', async () => {
    await gather(grace, bob)
    const content = `Hello @Grace Hopper, ${'the engine runs. '.repeat(20)}`
    const { message_id, root_id, message } = await ada.messages.postRoot(group, { content })
    expect(message.mentions).toEqual({ user_ids: [grace.id] })
    expect(await bob.messages.get(message_id)).toMatchObject({ mentions: { user_ids: [grace.id] } })
    const { notifications, unread } = await grace.notifications.list({ unread: true })
    expect(notifications).toEqual([
      {
        id: expect.any(String),
        kind: 'mention',
        at: message.created_at,
        conversation_id: group,
        root_id,
        message_id,
        actor_user_id: ada.id,
        excerpt: content.slice(0, 140),
      },
    ])
    expect(unread).toBe(1)
    expect(await kinds(bob)).toEqual([])
    expect(await kinds(ada)).toEqual([])
  })

  it('takes characters of two units behind an @', async () => {
    await gather(grace)
    for (const content of ['@🦊', 'Hi @Grace Hopper🦊', '@grace \u{A5BFF}+ @é\u{A5BFF}\u{27BC2}'])
      expect((await ada.messages.postRoot(group, { content })).message.content).toBe(content)
    expect(await kinds(grace)).toEqual(['mention'])
  })

  it('has one entry for a message, of the first kind that fits', async () => {
    await gather(grace, bob)
    const { message_id } = await grace.messages.postRoot(group, { content: 'Does it run?' })
    await ada.messages.reply(message_id, { content: '@grace hopper and @all: yes' })
    await ada.messages.reply(message_id, { content: '@all: yes' })
    await ada.messages.reply(message_id, { content: 'yes' })
    expect(await kinds(grace)).toEqual(['reply', 'mention_all', 'mention'])
    expect(await kinds(bob)).toEqual(['mention_all', 'mention_all'])
    expect((await grace.notifications.list({ kind: 'reply', unread: true })).notifications).toHaveLength(1)
    expect((await grace.notifications.list({ conversation: group, limit: 2 })).notifications).toHaveLength(2)
  })

  it('has a reply where a message of the user is quoted, once for a message', async () => {
    await gather(grace, bob)
    const { message_id: quote_id } = await grace.messages.postRoot(group, { content: 'Does it run?' })
    const { message_id: other } = await bob.messages.postRoot(group, { content: 'It runs' })
    const post = (content: string, mentions = {}) => ada.messages.postRoot(group, { content, quote_id, mentions })
    const { message_id: first } = await post('Look')
    await ada.messages.reply(quote_id, { content: 'To grace twice', quote_id })
    await ada.messages.reply(other, { content: 'To both', quote_id })
    await post('To all', { all: true })
    const { message_id: named } = await post('By name', { user_ids: [grace.id] })
    await grace.messages.postRoot(group, { content: 'As I said', quote_id })
    expect(await kinds(grace)).toEqual(['mention', 'reply', 'reply', 'reply', 'reply'])
    expect(await kinds(bob)).toEqual(['mention_all', 'reply'])
    // Also by an edit that mentions the user no longer.
    await ada.messages.edit(named, { content: 'By no name', mentions: {} })
    expect(await kinds(grace)).toEqual(['reply', 'reply', 'reply', 'reply', 'reply'])
    await ada.messages.edit(first, { content: '@Grace Hopper' })
    expect(await kinds(grace)).toEqual(['reply', 'reply', 'reply', 'reply', 'mention'])
    await grace.threads.markRead(first)
    expect(await kinds(grace)).toEqual(['reply', 'reply', 'reply', 'reply'])
  })

  it('has no reply for the author of a quoted message who has left, or wants to hear of nothing', async () => {
    await gather(grace, bob)
    const { message_id: of_grace } = await grace.messages.postRoot(group, { content: 'Does it run?' })
    const { message_id: of_bob } = await bob.messages.postRoot(group, { content: 'It runs' })
    await grace.conversations.setSettings(group, { level: 'none' })
    await ada.participants.remove(group, bob.id)
    for (const quote_id of [of_grace, of_bob]) await ada.messages.postRoot(group, { content: 'Look', quote_id })
    await ada.participants.add(group, { user_id: bob.id })
    expect([await kinds(grace), await kinds(bob)]).toEqual([[], ['added']])
  })

  /** The direct conversation of ada with another user, who has read it. */
  async function directWith(other: Person): Promise<string> {
    const { conversation_id } = await ada.conversations.direct({ user_id: other.id })
    await other.conversations.markRead(conversation_id, { all: true })
    await readAll(other)
    return conversation_id
  }

  it('has a reply of its own where a direct message quotes the user, and counts it as unread', async () => {
    await gather(eve)
    const conversation_id = await directWith(eve)
    const { message_id: quote_id } = await eve.messages.postRoot(conversation_id, { content: 'Does it run?' })
    const { message_id } = await ada.messages.postRoot(conversation_id, { content: 'It does' })
    await ada.messages.reply(message_id, { content: 'As you asked', quote_id })
    await ada.messages.reply(message_id, { content: 'As I said', quote_id: message_id })
    expect(await unread(eve)).toMatchObject([{ kind: 'direct', count: 3 }, { kind: 'reply' }])
    await eve.threads.markRead(message_id)
    expect(await kinds(eve)).toEqual([])
  })

  it('has nothing of one’s own, nor of replies to oneself', async () => {
    await gather(grace)
    const { message_id } = await ada.messages.postRoot(group, { content: 'I am @ada' })
    const { message } = await ada.messages.reply(message_id, { content: 'me', mentions: { user_ids: [ada.id] } })
    expect(message.mentions).toBeUndefined()
    expect(await kinds(ada)).toEqual([])
  })

  it('has the conversations to which another user has added the user, whatever the level', async () => {
    await readAll(eve)
    await gather()
    await ada.participants.add(group, { user_id: eve.id })
    expect(await unread(eve)).toMatchObject([{ kind: 'added', conversation_id: group, actor_user_id: ada.id }])
  })

  it('takes named persons instead of the text, and leaves out those who are no participants', async () => {
    await gather(grace, bob)
    const post = (content: string, mentions: object) => ada.messages.postRoot(group, { content, mentions })
    const named = await post('@bob', { user_ids: [grace.id, eve.id, grace.id] })
    expect(named.message.mentions).toEqual({ user_ids: [grace.id] })
    expect((await post('@bob', {})).message.mentions).toBeUndefined()
    expect((await post('no name', { user_ids: [], all: true })).message.mentions).toEqual({ user_ids: [], all: true })
    expect(await kinds(bob)).toEqual(['mention_all'])
    await expect(post('@', { user_ids: ['bob'] })).rejects.toMatchObject({ code: 'validation_failed' })
    const many = Array.from({ length: 51 }, () => grace.id)
    await expect(post('@', { user_ids: many })).rejects.toMatchObject({ code: 'validation_failed' })
    await expect(post('@', { all: 1 })).rejects.toMatchObject({ code: 'validation_failed' })
  })

  it('lets owners and admins mention all, unless the policy says otherwise', async () => {
    await gather(grace, bob)
    const content = 'Hello @all'
    expect((await bob.messages.postRoot(group, { content })).message.mentions).toBeUndefined()
    const explicit = bob.messages.postRoot(group, { content, mentions: { all: true } })
    await expect(explicit).rejects.toMatchObject({ code: 'forbidden' })
    await ada.conversations.rename(group, { policy: { mention_all: 'members' } })
    expect((await bob.messages.postRoot(group, { content })).message.mentions).toEqual({ user_ids: [], all: true })
    await ada.conversations.rename(group, { policy: { mention_all: 'nobody' } })
    expect((await ada.messages.postRoot(group, { content })).message.mentions).toBeUndefined()
    await expect(ada.messages.postRoot(group, { content, mentions: { all: true } })).rejects.toMatchObject({
      code: 'forbidden',
    })
    await readAll(grace)
  })

  it('is not filled by a mention of all in a conversation with too many participants', async () => {
    const small = await startService(url, { config: { limits: { mention_all: 2 } } })
    const actor = await small.chat.users.actor(ada.id)
    await gather(grace)
    const post = (mentions?: { all: boolean }) =>
      small.chat.messages.postRoot(actor, group, { content: 'Hello @all', ...(mentions && { mentions }) })
    expect((await post()).message.mentions).toEqual({ user_ids: [], all: true })
    expect(await kinds(grace)).toEqual(['mention_all'])
    await ada.participants.add(group, { user_id: bob.id })
    await readAll(grace)
    expect((await post()).message.mentions).toBeUndefined()
    await expect(post({ all: true })).rejects.toMatchObject({ code: 'conflict' })
    expect(await kinds(grace)).toEqual([])
    await small.close()
  })

  it('keeps a mention with its person when the name changes, or is another’s then', async () => {
    const [tim, tom] = [await service.signIn('tim.o'), await service.signIn('tom')]
    await gather(tim, tom)
    const { message_id } = await ada.messages.postRoot(group, { content: 'Hi @tim.o, and @nobody' })
    await tim.auth.changeProfile({ username: 'timothy' })
    await tom.auth.changeProfile({ username: 'tim.o' })
    expect((await ada.messages.get(message_id)).mentions).toEqual({ user_ids: [tim.id] })
    expect([await kinds(tim), await kinds(tom)]).toEqual([['mention'], []])
    await ada.messages.postRoot(group, { content: 'Hi `@timothy` and @tim.o' })
    expect([await kinds(tim), await kinds(tom)]).toEqual([['mention'], ['mention']])
  })

  it('is told of nothing at the level none', async () => {
    await gather(grace)
    await innerState(service).db.run(
      sql`UPDATE participants SET level = 'none' WHERE conversation_id = ${group} AND user_id = ${grace.id}`,
    )
    const { message } = await ada.messages.postRoot(group, { content: '@grace hopper and @all' })
    expect(message.mentions).toEqual({ user_ids: [grace.id], all: true })
    expect(await kinds(grace)).toEqual([])
  })

  it('shows nothing of a conversation while the user is not in it', async () => {
    await gather(grace)
    await ada.messages.postRoot(group, { content: '@grace hopper' })
    expect(await kinds(grace)).toEqual(['mention'])
    await ada.participants.remove(group, grace.id)
    expect(await grace.notifications.list({ unread: true })).toEqual({ notifications: [], unread: 0 })
    await ada.participants.add(group, { user_id: grace.id })
    expect(await kinds(grace)).toEqual(['added', 'mention'])
  })

  it('marks as read by ids, or up to one, and passes over those of others', async () => {
    await gather(grace, bob)
    for (const content of ['1', '2', '3', '4'])
      await ada.messages.postRoot(group, { content: `${content} @grace hopper` })
    const [fourth, third, second] = await unread(grace)
    await bob.notifications.markRead({ ids: [fourth!.id] })
    await bob.notifications.markRead({ up_to: fourth!.id })
    expect(await unread(grace)).toHaveLength(4)
    await grace.notifications.markRead({ ids: [fourth!.id, ada.id] })
    await grace.notifications.markRead({ up_to: second!.id })
    await grace.notifications.markRead({ up_to: second!.id })
    expect(await unread(grace)).toEqual([third])
    const [read] = (await grace.notifications.list({ limit: 1 })).notifications
    expect(read).toEqual({ ...fourth, read_at: expect.any(String) })
    const answers = [{}, { ids: [], up_to: second!.id }, { ids: Array.from({ length: 201 }, () => second!.id) }]
    for (const body of answers)
      await expect(grace.notifications.markRead(body as never)).rejects.toMatchObject({ code: 'validation_failed' })
    const errorsOf = async (body: unknown) => grace.notifications.markRead(body as never).catch(({ errors }) => errors)
    expect(await errorsOf({})).toEqual([{ path: '', message: 'must have one of ids, up_to' }])
    expect(await errorsOf({ ids: 'x' })).toMatchObject([{ path: 'ids' }])
    expect(await errorsOf({ up_to: 5 })).toMatchObject([{ path: 'up_to' }])
  })

  it('pages without a gap and without a repeat', async () => {
    await gather(bob)
    for (let n = 0; n < 7; n++) await ada.messages.postRoot(group, { content: `${n} @bob` })
    const seen: string[] = []
    for (let after: string | undefined, n = 0; n < 9; n++) {
      const page = await bob.notifications.list({ conversation: group, limit: 3, ...(after && { after }) })
      seen.push(...page.notifications.map(({ excerpt = '', kind }) => excerpt || kind))
      after = page.next_after
      if (!after) break
    }
    expect(seen).toEqual(['6 @bob', '5 @bob', '4 @bob', '3 @bob', '2 @bob', '1 @bob', '0 @bob', 'added'])
    await expect(bob.notifications.list({ after: 'nonsense' })).rejects.toMatchObject({ code: 'invalid_cursor' })
  })

  it('is without having been added once any thread of the conversation is read', async () => {
    await readAll(grace)
    await gather()
    await ada.participants.add(group, { user_id: grace.id })
    const { root_id } = await ada.messages.postRoot(group, { content: 'one @grace hopper' })
    await ada.messages.postRoot(group, { content: 'two @grace hopper' })
    expect(await kinds(grace)).toEqual(['mention', 'mention', 'added'])
    await grace.threads.markRead(root_id)
    expect(await kinds(grace)).toEqual(['mention'])
    expect((await grace.notifications.list()).unread).toBe(1)
  })

  it('is read with the thread, up to the marker', async () => {
    await gather(grace)
    const { message_id, root_id } = await ada.messages.postRoot(group, { content: 'one @grace hopper' })
    const second = await ada.messages.reply(message_id, { content: 'two @grace hopper' })
    await ada.messages.reply(message_id, { content: 'three @grace hopper' })
    await ada.messages.postRoot(group, { content: 'elsewhere @grace hopper' })
    await grace.threads.markRead(root_id, { message_id: second.message_id })
    expect((await unread(grace)).map(({ excerpt }) => excerpt)).toEqual([
      'elsewhere @grace hopper',
      'three @grace hopper',
    ])
    await grace.threads.markRead(root_id)
    expect(await unread(grace)).toHaveLength(1)
  })

  it('has back what is marked unread, at its old place, and nothing else that was read', async () => {
    await gather(grace)
    const { message_id: one } = await ada.messages.postRoot(group, { content: 'one @grace hopper' })
    const { message_id: two } = await ada.messages.reply(one, { content: 'two @grace hopper' })
    const { message_id: gone } = await ada.messages.reply(one, { content: 'gone @grace hopper' })
    const { message_id: other } = await ada.messages.postRoot(group, { content: 'other @grace hopper' })
    const about = async () => (await unread(grace)).map(({ message_id }) => message_id)
    const mentions = async () =>
      (await grace.conversations.list()).conversations.find(({ id }) => id === group)!.mentions ?? 0
    const places = (await unread(grace)).map(({ at }) => at)
    // Read by itself, its message stays unread: no mark puts it back.
    await grace.notifications.markRead({ ids: [(await unread(grace)).at(-1)!.id] })
    await grace.threads.markUnread(one, { message_id: one })
    expect(await about()).toEqual([other, gone, two])
    await grace.conversations.markRead(group, { all: true })
    expect([await about(), await mentions()]).toEqual([[], 0])
    await ada.messages.remove(gone)
    await grace.threads.markUnread(one, { message_id: two })
    expect([await about(), await mentions()]).toEqual([[two], 1])
    await ada.messages.restore(gone)
    expect([await about(), await mentions()]).toEqual([[gone, two], 2])
    await grace.conversations.markUnread(group, { message_id: two })
    expect([await about(), await mentions()]).toEqual([[other, gone, two, one], 4])
    expect((await unread(grace)).map(({ at }) => at)).toEqual(places)
    expect((await grace.notifications.list()).unread).toBe(4)
    await grace.conversations.markRead(group, { all: true })
    expect([await about(), await mentions()]).toEqual([[], 0])
  })

  it('has a thread of a direct conversation back, for as many messages as are unread again', async () => {
    await gather(grace)
    const { conversation_id } = await ada.conversations.direct({ user_id: grace.id })
    await grace.conversations.markRead(conversation_id, { all: true })
    await readAll(grace)
    const { message_id: one } = await ada.messages.postRoot(conversation_id, { content: 'one' })
    const { message_id: two } = await ada.messages.reply(one, { content: 'two' })
    await grace.threads.markRead(one)
    await ada.messages.reply(one, { content: 'three' })
    await grace.threads.markUnread(one, { message_id: two })
    expect(await unread(grace)).toMatchObject([{ kind: 'direct', root_id: one, count: 2, excerpt: 'three' }])
    await grace.threads.markRead(one)
    expect(await unread(grace)).toEqual([])
    await grace.threads.markUnread(one, { message_id: two })
    expect(await unread(grace)).toMatchObject([{ count: 2 }])
    await ada.messages.reply(one, { content: 'four' })
    expect(await unread(grace)).toMatchObject([{ count: 3, excerpt: 'four' }])
    await grace.threads.markRead(one)
    await grace.conversations.markUnread(conversation_id, { message_id: one })
    expect(await unread(grace)).toMatchObject([{ kind: 'direct', root_id: one }])
  })

  it('has one entry for a direct conversation while it is not read, with all that is unread in it', async () => {
    await gather(grace)
    const conversation_id = await directWith(grace)
    const { message_id, root_id } = await ada.messages.postRoot(conversation_id, { content: 'one' })
    const [first] = await unread(grace)
    expect(first).toMatchObject({ kind: 'direct', root_id, message_id, count: 1, actor_user_id: ada.id })
    const other = await ada.messages.postRoot(conversation_id, { content: 'other' })
    const second = await ada.messages.reply(message_id, { content: 'two' })
    const [row] = await unread(grace)
    expect(await unread(grace)).toEqual([row])
    expect(row).toMatchObject({ id: first!.id, root_id, message_id: second.message_id, count: 3, excerpt: 'two' })
    // It shows what is still unread.
    await grace.threads.markRead(root_id)
    expect(await unread(grace)).toMatchObject([{ id: first!.id, root_id: other.root_id, count: 1, excerpt: 'other' }])
    await grace.threads.markRead(other.root_id)
    const { notifications, unread: left } = await grace.notifications.list({ conversation: conversation_id, limit: 1 })
    expect([left, notifications]).toMatchObject([0, [{ id: first!.id, read_at: expect.any(String) }]])
    expect(notifications[0]).not.toHaveProperty('count')
    await ada.messages.reply(message_id, { content: 'three' })
    expect(await unread(grace)).toMatchObject([{ root_id, count: 1, excerpt: 'three' }])
    expect((await unread(grace))[0]!.id).not.toBe(first!.id)
    const asked = await grace.messages.reply(message_id, { content: 'four' })
    await ada.messages.reply(asked.message_id, { content: 'five' })
    expect(await kinds(grace)).toEqual(['reply', 'direct'])
    // A reply to a root of one's own is a message like others.
    expect(await kinds(ada)).toEqual(['direct'])
    await ada.conversations.markRead(conversation_id, { all: true })
    const mine = await ada.messages.postRoot(conversation_id, { content: 'mine' })
    await grace.messages.reply(mine.message_id, { content: 'to the root' })
    expect(await kinds(ada)).toEqual(['direct'])
  })

  it('follows the edits of a message, and notifies each person once', async () => {
    await gather(grace, bob)
    const { message_id } = await ada.messages.postRoot(group, { content: 'Hello @bob' })
    await ada.messages.edit(message_id, { content: 'Hello @bob and @Grace Hopper' })
    expect([await kinds(grace), await kinds(bob)]).toEqual([['mention'], ['mention']])
    expect((await ada.messages.get(message_id)).mentions).toEqual({ user_ids: [grace.id, bob.id].sort() })
    await ada.messages.edit(message_id, { content: 'Hello' })
    expect([await kinds(grace), await kinds(bob)]).toEqual([[], []])
    expect(await ada.messages.get(message_id)).not.toHaveProperty('mentions')
    await ada.messages.edit(message_id, { content: 'Hello', mentions: { user_ids: [bob.id] } })
    expect([await kinds(grace), await kinds(bob)]).toEqual([[], ['mention']])
    await readAll(bob)
    await ada.messages.edit(message_id, { content: 'Hello @bob, @bob' })
    expect(await kinds(bob)).toEqual([])
    expect((await bob.notifications.list({ conversation: group, kind: 'mention' })).notifications).toHaveLength(1)
  })

  it('has the kind that fits after an edit, also where another one was withdrawn before', async () => {
    await gather(grace, bob)
    const { message_id } = await ada.messages.postRoot(group, { content: '@all hi' })
    const edit = (content: string) => ada.messages.edit(message_id, { content })
    for (const [content, kind] of [
      ['hi', []],
      ['hi @bob', ['mention']],
      ['hi', []],
      ['@all', ['mention_all']],
    ] as const) {
      await edit(content)
      expect([content, await kinds(bob)]).toEqual([content, kind])
    }
    const { message_id: of_bob } = await bob.messages.postRoot(group, { content: 'mine' })
    await readAll(bob)
    const answer = await ada.messages.reply(of_bob, { content: 're' })
    expect(await kinds(bob)).toEqual(['reply'])
    await ada.messages.edit(answer.message_id, { content: 're @bob' })
    expect(await kinds(bob)).toEqual(['mention'])
    await ada.messages.edit(answer.message_id, { content: 're' })
    expect(await kinds(bob)).toEqual(['reply'])
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  it('shows a direct conversation as long as one of its messages is left, whatever arrived in silence', async () => {
    await gather(grace)
    const conversation_id = await directWith(grace)
    const first = await ada.messages.postRoot(conversation_id, { content: 'one' })
    await grace.conversations.setSettings(conversation_id, { level: 'none' })
    const silent = await ada.messages.reply(first.message_id, { content: 'two' })
    await grace.conversations.setSettings(conversation_id, { level: 'all' })
    const last = await ada.messages.reply(first.message_id, { content: 'three' })
    expect(await unread(grace)).toMatchObject([{ message_id: last.message_id, count: 3 }])
    await ada.messages.remove(silent.message_id)
    await ada.messages.remove(first.message_id)
    expect(await unread(grace)).toMatchObject([{ kind: 'direct', message_id: last.message_id, count: 1 }])
    await ada.messages.remove(last.message_id)
    expect(await unread(grace)).toEqual([])
    await ada.messages.restore(first.message_id)
    expect(await unread(grace)).toMatchObject([{ kind: 'direct', message_id: first.message_id, count: 1 }])
    // What is read while a deleted message would be unread comes back with that message.
    await grace.threads.markRead(first.message_id, { message_id: first.message_id })
    expect(await unread(grace)).toEqual([])
    await ada.messages.restore(last.message_id)
    expect(await unread(grace)).toMatchObject([{ kind: 'direct', message_id: last.message_id, count: 1 }])
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  it('counts a message of a direct conversation as unread, whether an edit mentions the user or not', async () => {
    await gather(grace)
    const conversation_id = await directWith(grace)
    const mentions = async () => (await grace.conversations.get(conversation_id)).mentions
    const shown = async () =>
      (await unread(grace)).map(({ kind, message_id, count }) => [kind, message_id, count].filter(Boolean))
    const { message_id: first } = await ada.messages.postRoot(conversation_id, { content: 'Hi @Grace Hopper' })
    expect([await shown(), await mentions()]).toEqual([[['mention', first]], 1])
    await ada.messages.edit(first, { content: 'Hi' })
    expect([await shown(), await mentions()]).toEqual([[['direct', first, 1]], 0])

    const { message_id: second } = await ada.messages.reply(first, { content: 'two' })
    const { message_id: third } = await ada.messages.reply(first, { content: 'three, @all' })
    expect(await shown()).toEqual([
      ['mention_all', third],
      ['direct', second, 3],
    ])
    await ada.messages.edit(third, { content: 'three' })
    expect(await shown()).toEqual([['direct', third, 3]])
    await ada.messages.edit(second, { content: 'two', mentions: { user_ids: [grace.id] } })
    expect([await shown(), await mentions()]).toEqual([
      [
        ['direct', third, 3],
        ['mention', second],
      ],
      1,
    ])
    for (const each of [first, third]) await ada.messages.edit(each, { content: 'me too, @Grace Hopper' })
    expect((await shown()).map(([kind]) => kind)).toEqual(['mention', 'mention', 'mention'])
    await ada.messages.edit(second, { content: 'two', mentions: {} })
    await ada.messages.remove(third)
    await ada.messages.edit(first, { content: 'one' })
    expect([await shown(), await mentions()]).toEqual([[['direct', second, 2]], 0])
    await ada.messages.restore(third)
    expect([await shown(), await mentions()]).toEqual([
      [
        ['mention', third],
        ['direct', second, 3],
      ],
      1,
    ])

    // What is read stays as it is.
    await grace.threads.markRead(first)
    await ada.messages.edit(third, { content: 'three' })
    await ada.messages.edit(second, { content: '@Grace Hopper and @all' })
    expect([await shown(), await mentions()]).toEqual([[], 0])
    const { notifications } = await grace.notifications.list({ conversation: conversation_id })
    expect(notifications.slice(0, 2).map(({ kind }) => kind)).toEqual(['mention', 'direct'])
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  it('has one entry for a thread that the user follows, while it is not read, and moves it to the front', async () => {
    await gather(grace, bob)
    const mentions = async () => (await grace.conversations.get(group)).mentions
    const { message_id: root_id } = await grace.messages.postRoot(group, { content: 'Does it run?' })
    const { message_id: mention } = await bob.messages.postRoot(group, { content: '@Grace Hopper' })
    const { message_id: one } = await ada.messages.reply(root_id, { content: 'one' })
    const [row] = await unread(grace)
    expect(row).toMatchObject({ kind: 'reply', root_id, message_id: one, actor_user_id: ada.id, count: 1 })
    const { message_id: two } = await bob.messages.reply(one, { content: 'two' })
    expect(await unread(grace)).toMatchObject([{ id: row!.id, message_id: two, count: 2 }, { kind: 'mention' }])
    // Authors of replies follow from then on, and a reply to one of theirs has an entry of its own.
    expect(await unread(ada)).toMatchObject([{ kind: 'reply', message_id: two }])
    expect((await unread(ada))[0]).not.toHaveProperty('count')
    await grace.messages.reply(root_id, { content: 'three' })
    const ofAda = await unread(ada)
    expect(ofAda.map(({ count }) => count)).toEqual([2, undefined])
    expect(await unread(bob)).toMatchObject([{ kind: 'reply', count: 1, excerpt: 'three' }])
    expect(await mentions()).toBe(2)
    await bob.messages.remove(two)
    expect(await unread(grace)).toMatchObject([{ id: row!.id, message_id: one, count: 1 }, { message_id: mention }])
    await ada.messages.remove(one)
    expect([await kinds(grace), await mentions()]).toEqual([['mention'], 1])
    await bob.messages.restore(two)
    expect(await unread(grace)).toMatchObject([{ id: row!.id, message_id: two, count: 1 }, { message_id: mention }])
    await grace.threads.markRead(root_id)
    expect([await kinds(grace), await mentions()]).toEqual([['mention'], 1])
    await grace.threads.markUnread(root_id, { message_id: two })
    expect(await unread(grace)).toMatchObject([{ id: row!.id, message_id: two, count: 1 }, { kind: 'mention' }])
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  it('has nothing of a thread that the user follows no longer, nor from before', async () => {
    await gather(grace, bob)
    const { message_id: root_id } = await ada.messages.postRoot(group, { content: 'one' })
    await bob.messages.reply(root_id, { content: 'two' })
    await grace.threads.follow(root_id)
    expect(await kinds(grace)).toEqual([])
    await bob.messages.reply(root_id, { content: 'three' })
    expect(await unread(grace)).toMatchObject([{ kind: 'reply', count: 1 }])
    await grace.threads.unfollow(root_id)
    expect([await kinds(grace), (await grace.conversations.get(group)).mentions]).toEqual([[], 0])
    await bob.messages.reply(root_id, { content: 'four' })
    expect(await kinds(grace)).toEqual([])
    await grace.threads.follow(root_id)
    await ada.messages.reply(root_id, { content: 'five' })
    expect(await unread(grace)).toMatchObject([{ count: 1, excerpt: 'five' }])
    await grace.conversations.markRead(group, { all: true })
    expect(await kinds(grace)).toEqual([])
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  it('has an entry of its own for what an edit mentions in a thread that the user follows', async () => {
    await gather(grace, bob)
    const { message_id: root_id } = await grace.messages.postRoot(group, { content: 'Does it run?' })
    const { message_id } = await ada.messages.reply(root_id, { content: 'one' })
    await ada.messages.edit(message_id, { content: '@Grace Hopper one' })
    expect([await kinds(grace), (await grace.conversations.get(group)).mentions]).toEqual([['mention'], 1])
    await ada.messages.edit(message_id, { content: 'one' })
    expect(await unread(grace)).toMatchObject([{ kind: 'reply', message_id, count: 1 }])
    const { message_id: second } = await ada.messages.reply(root_id, { content: 'two' })
    await ada.messages.edit(second, { content: '@all two' })
    expect(await unread(grace)).toMatchObject([{ kind: 'mention_all' }, { kind: 'reply', message_id, count: 2 }])
    expect((await grace.conversations.get(group)).mentions).toBe(2)
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  it('has nothing of a thread from before the user was added again', async () => {
    await gather(grace, bob)
    const { message_id: root_id } = await grace.messages.postRoot(group, { content: 'Does it run?' })
    await ada.messages.reply(root_id, { content: 'one' })
    await ada.participants.remove(group, grace.id)
    await ada.messages.reply(root_id, { content: 'two' })
    await ada.participants.add(group, { user_id: grace.id })
    expect([await kinds(grace), (await grace.conversations.get(group)).mentions ?? 0]).toEqual([['added'], 0])
    expect((await service.chat.ops.fsck()).findings).toEqual([])
  })

  it('loses a deleted message, and has it back as it was', async () => {
    await gather(grace, bob)
    const { message_id } = await ada.messages.postRoot(group, { content: '@bob and @all' })
    await bob.notifications.markRead({ ids: [(await unread(bob))[0]!.id] })
    const before = [await unread(grace), (await bob.notifications.list({ conversation: group })).notifications]
    const mentions = async () =>
      (await grace.conversations.list()).conversations.find(({ id }) => id === group)!.mentions
    expect(await mentions()).toBe(1)
    await ada.messages.remove(message_id)
    expect([await kinds(grace), await mentions()]).toEqual([[], 0])
    expect((await bob.notifications.list({ conversation: group })).notifications).toMatchObject([{ kind: 'added' }])
    await ada.messages.restore(message_id)
    expect([await unread(grace), (await bob.notifications.list({ conversation: group })).notifications]).toEqual(before)
    expect(await mentions()).toBe(1)
  })

  it('belongs to the same post with the same key', async () => {
    await gather(grace, bob)
    const key = { headers: { 'idempotency-key': 'key' } }
    const post = (user: Person) =>
      ada.messages.postRoot(group, { content: 'once', mentions: { user_ids: [user.id] } }, key)
    const first = await post(grace)
    expect((await post(grace)).message_id).toBe(first.message_id)
    const another = post(bob)
    await expect(another).rejects.toMatchObject({ code: 'idempotency_mismatch' })
    expect(await unread(grace)).toHaveLength(1)
  })
})
