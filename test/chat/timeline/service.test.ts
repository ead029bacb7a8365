import { beforeAll, expect, it } from 'vitest'
import { OPERATOR } from '../../../lib/index.ts'
import { describeService } from '../../support/describe-service.ts'
import { codeOf, innerState, type Person, startThread } from '../../support/service.ts'

type View = 'roots' | 'all'
type Place = { before?: string; after?: string; around?: string; limit?: number }

describeService('messages by arrival', (service) => {
  let world: Awaited<ReturnType<typeof startThread>>
  let names: Map<string, string>
  let ids: Record<string, string>
  let conversation_id: string
  beforeAll(async () => {
    world = await startThread(service)
    await build()
  })

  /** Three threads, whose messages arrive in the order `a b a1 c a11 b1 a2`. Ada is `a…`, Grace the others. */
  async function build() {
    const { ada, grace } = world
    conversation_id = (await ada.conversations.create()).conversation_id
    await ada.participants.add(conversation_id, { user_id: grace.id })
    ids = {}
    for (const name of ['a', 'b', 'a1', 'c', 'a11', 'b1', 'a2']) {
      const author = name.startsWith('a') ? ada : grace
      const post =
        name.length === 1
          ? author.messages.postRoot(conversation_id, { content: name })
          : author.messages.reply(ids[name.slice(0, -1)]!, { content: name })
      ids[name] = (await post).message_id
    }
    names = new Map(Object.entries(ids).map(([name, id]) => [id, name]))
  }

  const list = (view: View, place: Place = {}, by: Person = world.ada) =>
    by.messages.list(conversation_id, { view, ...place })
  const replies = (root: string, place: Place = {}, by: Person = world.ada) => by.threads.messages(ids[root]!, place)
  const read = ({ messages }: { messages: { id: string }[] }) => messages.map(({ id }) => names.get(id)).join(' ')
  /** A page as a text: what is on it, with `…` for each side that has more. */
  const shown = (page: { messages: { id: string }[]; next_before?: string; next_after?: string }) =>
    `${page.next_before ? '… ' : ''}${read(page)}${page.next_after ? ' …' : ''}`
  /** A place by the name of a message. */
  const at = ({ limit, ...place }: Place): Place => ({
    ...Object.fromEntries(Object.entries(place).map(([side, name]) => [side, ids[name as string] ?? name])),
    ...(limit && { limit }),
  })

  it.each<[View, Place, string]>([
    ['roots', {}, 'a b c'],
    ['roots', { limit: 2 }, '… b c'],
    ['roots', { before: 'c' }, 'a b …'],
    ['roots', { before: 'c', limit: 1 }, '… b …'],
    ['roots', { before: 'a' }, ' …'],
    ['roots', { after: 'a' }, '… b c'],
    ['roots', { after: 'a', limit: 1 }, '… b …'],
    ['roots', { after: 'c' }, '… '],
    ['roots', { around: 'b', limit: 1 }, '… b …'],
    ['roots', { around: 'b', limit: 2 }, 'a b …'],
    ['roots', { around: 'b' }, 'a b c'],
    // The id of a reply stands for its root.
    ['roots', { after: 'a2' }, '… b c'],
    ['roots', { before: 'b1' }, 'a …'],
    ['roots', { around: 'a11', limit: 1 }, 'a …'],
    ['all', {}, 'a b a1 c a11 b1 a2'],
    ['all', { limit: 3 }, '… a11 b1 a2'],
    ['all', { before: 'c', limit: 2 }, '… b a1 …'],
    ['all', { after: 'c', limit: 2 }, '… a11 b1 …'],
    // Half of the limit is older; a short side stays short.
    ['all', { around: 'c', limit: 5 }, '… b a1 c a11 b1 …'],
    ['all', { around: 'c', limit: 4 }, '… b a1 c a11 …'],
    ['all', { around: 'a', limit: 4 }, 'a b …'],
    ['all', { around: 'a2', limit: 4 }, '… a11 b1 a2'],
  ])('%s, %j: %s', async (view, place, expected) => {
    expect(shown(await list(view, at(place)))).toBe(expected)
  })

  it.each<[string, Place, string]>([
    ['a', {}, 'a1 a11 a2'],
    ['a', { limit: 2 }, '… a11 a2'],
    ['a', { before: 'a2', limit: 1 }, '… a11 …'],
    ['a', { after: 'a1' }, '… a11 a2'],
    ['a', { around: 'a11', limit: 2 }, 'a1 a11 …'],
    // The root stands before all replies.
    ['a', { after: 'a', limit: 2 }, 'a1 a11 …'],
    ['a', { before: 'a' }, ' …'],
    ['a', { around: 'a', limit: 2 }, 'a1 …'],
    ['c', {}, ''],
    ['c', { around: 'c' }, ''],
  ])('the replies of %s, %j: %s', async (root, place, expected) => {
    const page = await replies(root, at(place))
    expect(shown(page)).toBe(expected)
    expect(page).toMatchObject({
      conversation_id,
      root: { id: ids[root], thread: { reply_count: root === 'c' ? 0 : 3 } },
    })
  })

  it.each<[string, Place | { view: string }, string]>([
    ['two places', { before: 'a', after: 'b' }, 'validation_failed'],
    ['two places, one of them unread', { around: 'unread', after: 'b' }, 'validation_failed'],
    ['an unknown view', { view: 'replies' }, 'validation_failed'],
    ['a limit of 0', { limit: 0 }, 'validation_failed'],
    ['unread as another place', { before: 'unread' }, 'invalid_cursor'],
    ['neither an id nor a cursor', { after: 'yesterday' }, 'invalid_cursor'],
    ['an empty place', { around: '' }, 'invalid_cursor'],
    ['an instant that no cursor has', { after: `roots_9999999999999999_` }, 'invalid_cursor'],
    ['an id that is not there', { around: '01980a3c-9000-7a10-8b20-0c4f1d2e3a45' }, 'not_found'],
  ])('refuse %s', async (_, input, code) => {
    const place = 'limit' in input ? input : at(input as Place)
    expect(await codeOf(world.ada.messages.list(conversation_id, place as Place))).toBe(code)
    if (!('view' in input)) expect(await codeOf(world.ada.threads.messages(ids.a!, place as Place))).toBe(code)
  })

  it('refuse messages and cursors of other lists', async () => {
    const { ada, root } = world
    expect(await codeOf(list('all', { around: root.message_id }))).toBe('not_found')
    expect(await codeOf(replies('a', { around: ids.b! }))).toBe('not_found')
    expect(await codeOf(replies('a', { around: ids.b1! }))).toBe('not_found')
    const cursors = {
      roots: (await list('roots', { limit: 1 })).next_before!,
      all: (await list('all', { limit: 1 })).next_before!,
      a: (await replies('a', { limit: 1 })).next_before!,
    }
    for (const before of [cursors.all, cursors.a])
      expect(await codeOf(list('roots', { before }))).toBe('invalid_cursor')
    for (const before of [cursors.roots, cursors.a])
      expect(await codeOf(list('all', { before }))).toBe('invalid_cursor')
    for (const before of [cursors.roots, cursors.all])
      expect(await codeOf(replies('a', { before }))).toBe('invalid_cursor')
    expect(await codeOf(replies('b', { before: cursors.a }))).toBe('invalid_cursor')
    expect(await codeOf(ada.messages.list(world.conversation_id, { before: cursors.roots }))).toBe('invalid_cursor')
  })

  it('take a cursor at every place, which stands at its message', async () => {
    const { next_before: b } = await list('roots', { around: ids.b!, limit: 1 })
    expect(shown(await list('roots', { before: b!, limit: 1 }))).toBe('a …')
    expect(shown(await list('roots', { after: b!, limit: 1 }))).toBe('… c')
    expect(shown(await list('roots', { around: b!, limit: 1 }))).toBe('… b …')
    expect(await list('roots', { around: b!, limit: 1 })).toMatchObject({ next_before: b })
  })

  it('go on from an empty page to what is on its other side', async () => {
    const end = await list('all', { after: ids.a2! })
    expect(shown(await list('all', { before: end.next_before!, limit: 2 }))).toBe('… b1 a2')
    const begin = await list('all', { before: ids.a! })
    expect(shown(await list('all', { after: begin.next_after!, limit: 2 }))).toBe('a b …')
  })

  it('list deleted messages, and count only live replies', async () => {
    await build()
    const { ada } = world
    for (const name of ['a', 'a1', 'b']) await ada.messages.remove(ids[name]!)
    const { messages } = await list('all')
    expect(read({ messages })).toBe('a b a1 c a11 b1 a2')
    const states = messages.map(({ content, deleted_at, thread }) => [
      content,
      Boolean(deleted_at),
      thread?.reply_count,
    ])
    expect(states).toEqual([
      ['', true, 2],
      ['', true, 1],
      ['', true, undefined],
      ['c', false, 0],
      ['a11', false, undefined],
      ['b1', false, undefined],
      ['a2', false, undefined],
    ])
    expect(shown(await replies('a'))).toBe('a1 a11 a2')
    expect((await replies('a', { around: ids.a1!, limit: 1 })).messages[0]).toMatchObject({ content: '' })
    await ada.messages.restore(ids.a1!)
    expect((await replies('a')).root).toMatchObject({ content: '', thread: { reply_count: 3 } })
  })

  it('say of a root when the last live reply arrived, and who replied last, each user once', async () => {
    await build()
    const { ada, grace } = world
    const stateOf = async (root: string) => (await list('roots', { around: ids[root]!, limit: 1 })).messages[0]!.thread
    const a2 = (await replies('a')).messages.at(-1)!
    // Of the caller, ada.
    const own = { following: true, unread_replies: 0 }
    const first = { ...own, reply_count: 3, last_reply_at: a2.created_at, last_replier_ids: [ada.id] }
    expect(await stateOf('a')).toEqual(first)
    expect(await stateOf('c')).toEqual({ ...own, following: false, reply_count: 0, last_replier_ids: [] })
    const { message } = await grace.messages.reply(ids.a!, { content: 'again' })
    const last = { ...own, reply_count: 4, last_reply_at: message.created_at, last_replier_ids: [grace.id, ada.id] }
    expect(await stateOf('a')).toEqual({ ...last, unread_replies: 1 })
    await grace.messages.remove(message.id)
    expect(await stateOf('a')).toEqual(first)
    await grace.messages.restore(message.id)
    expect(await stateOf('a')).toEqual({ ...last, unread_replies: 1 })
    // At most three users.
    for (const name of ['hal', 'ivy', 'joe']) {
      const person = await service.signIn(name)
      await ada.participants.add(conversation_id, { user_id: person.id })
      const posted = await person.messages.reply(ids.a1!, { content: name })
      last.last_replier_ids = [person.id, ...last.last_replier_ids].slice(0, 3)
      expect(await stateOf('a')).toMatchObject({
        last_reply_at: posted.message.created_at,
        last_replier_ids: last.last_replier_ids,
      })
    }
  })

  it('are unread for others until read, from the first one on', async () => {
    await build()
    const { ada, grace } = world
    const unread = ({ messages, first_unread_id }: Awaited<ReturnType<typeof list>>) => [
      messages.flatMap(({ id, unread }) => (unread ? names.get(id) : [])).join(' '),
      first_unread_id && names.get(first_unread_id),
    ]
    expect(unread(await list('all', {}, grace))).toEqual(['a a1 a11 a2', 'a'])
    expect(unread(await list('all', {}, ada))).toEqual(['b c b1', 'b'])
    expect(unread(await list('roots', { limit: 1 }, grace))).toEqual(['', 'a'])
    await grace.threads.markRead(ids.a!, { message_id: ids.a1! })
    expect(unread(await list('all', { limit: 1 }, grace))).toEqual(['a2', 'a11'])
    expect(unread(await list('roots', {}, grace))).toEqual(['', undefined])
    expect(shown(await list('all', { around: 'unread', limit: 2 }, grace))).toBe('… c a11 …')
    const thread = await replies('a', { around: 'unread', limit: 1 }, grace)
    expect([shown(thread), thread.first_unread_id, thread.root.unread]).toEqual(['… a11 …', ids.a11, undefined])
    // Without an unread one, the newest page.
    expect(shown(await list('roots', { around: 'unread', limit: 2 }, grace))).toBe('… b c')
    expect(shown(await replies('b', { around: 'unread' }, grace))).toBe('b1')
    await ada.messages.remove(ids.a11!)
    expect(unread(await list('all', {}, grace))).toEqual(['a2', 'a2'])
    await grace.threads.markRead(ids.a!)
    expect(unread(await list('all', {}, grace))).toEqual(['', undefined])
    await grace.threads.markUnread(ids.a!, { message_id: ids.a! })
    expect(unread(await list('roots', {}, grace))).toEqual(['a', 'a'])
    expect((await replies('a', {}, grace)).root.unread).toBe(true)
  })

  it('are not unread from before the reader joined', async () => {
    await build()
    const { ada, eve } = world
    await ada.participants.add(conversation_id, { user_id: eve.id })
    expect((await list('all', {}, eve)).first_unread_id).toBeUndefined()
    const later = await ada.messages.reply(ids.a!, { content: 'later' })
    const page = await list('all', {}, eve)
    expect(page.first_unread_id).toBe(later.message_id)
    expect(page.messages.filter(({ unread }) => unread).map(({ content }) => content)).toEqual(['later'])
    expect((await list('roots', {}, eve)).first_unread_id).toBeUndefined()
    await ada.participants.remove(conversation_id, eve.id)
  })

  it('are not found by outsiders, and have a position of the stream', async () => {
    const { ada, eve } = world
    expect(await codeOf(list('all', {}, eve))).toBe('not_found')
    expect(await codeOf(replies('a', {}, eve))).toBe('not_found')
    expect(await codeOf(ada.threads.messages(ids.a1!))).toBe('not_found')
    expect(await codeOf(ada.messages.list(ids.a!))).toBe('not_found')
    const { stream_position } = await list('roots')
    expect(stream_position).toMatch(/^[0-9a-f]{16}\.\d+$/)
    expect((await replies('a')).stream_position).toBe(stream_position)
  })

  it('are read by system actors, for whom nothing is unread', async () => {
    await build()
    const { chat } = service
    const system = await chat.system('clock')
    const page = await chat.messages.list(system, conversation_id, { view: 'all', around: 'unread' })
    expect(read(page)).toBe('a b a1 c a11 b1 a2')
    expect(page.messages.some(({ unread }) => unread)).toBe(false)
    expect(page.first_unread_id).toBeUndefined()
    const { thread } = (await chat.threads.messages(system, ids.a!)).root
    expect(Object.keys(thread!).sort()).toEqual(['last_replier_ids', 'last_reply_at', 'reply_count'])
  })

  it('keep the messages next to where a page begins, if they are long', async () => {
    const { ada } = world
    const { conversation_id: other } = await ada.conversations.create()
    const long: string[] = []
    // As JSON each is 384 KiB: a page has room for two.
    for (let n = 0; n < 7; n++)
      long.push((await ada.messages.postRoot(other, { content: `${n}${'\u0001'.repeat(65_535)}` })).message_id)
    const numbers = (page: Awaited<ReturnType<typeof list>>) =>
      page.messages.map(({ id }) => long.indexOf(id)).join(' ')
    const pageOf = (place: Place) => ada.messages.list(other, place)
    expect(numbers(await pageOf({}))).toBe('5 6')
    expect(numbers(await pageOf({ before: long[5]! }))).toBe('3 4')
    expect(numbers(await pageOf({ after: long[1]! }))).toBe('2 3')
    const around = await pageOf({ around: long[3]! })
    expect(numbers(around)).toBe('2 3')
    expect(numbers(await pageOf({ before: around.next_before! }))).toBe('0 1')
    expect(numbers(await pageOf({ after: around.next_after! }))).toBe('4 5')
    // Beside a long root a page has at least one reply.
    const reply = await ada.messages.reply(long[0]!, { content: `x${'\u0001'.repeat(65_535)}` })
    await ada.messages.reply(reply.message_id, { content: `x${'\u0001'.repeat(65_535)}` })
    const page = await ada.threads.messages(long[0]!)
    expect(page.messages).toHaveLength(1)
    expect(page.next_before).toBeDefined()
  })

  it('are read without the words of an erased author while these are being removed', async () => {
    await build()
    const { ada } = world
    const linus = await service.signIn('linus')
    await ada.participants.add(conversation_id, { user_id: linus.id })
    const root = await linus.messages.postRoot(conversation_id, { content: 'SECRET root' })
    await linus.messages.reply(root.message_id, { content: 'SECRET reply' })
    await ada.messages.reply(root.message_id, { content: 'kept' })
    await linus.messages.reply(ids.a!, { content: 'SECRET' })
    const { tasks } = innerState(service)
    const before = await list('all')
    await service.chat.users.erase(OPERATOR, linus.id, { messages: 'erase' })
    for (const settled of [false, true]) {
      if (settled) await tasks.settle()
      const page = await list('all')
      expect(JSON.stringify(page)).not.toContain('SECRET')
      expect(page.messages.map(({ id }) => id)).toEqual(before.messages.map(({ id }) => id))
      expect(page.messages.flatMap(({ thread }) => thread?.reply_count ?? [])).toEqual([3, 1, 0, 1])
      expect(names.get(page.first_unread_id!)).toBe('b')
    }
  })
})
