import { beforeAll, expect, it } from 'vitest'
import { sql } from '../../../lib/storage/sql.ts'
import { describeService } from '../../support/describe-service.ts'
import { codeOf, innerState, PASSWORD, type Person, times } from '../../support/service.ts'
import { openStream, signInByHand } from '../../support/stream.ts'

describeService('marks of a conversation', (service) => {
  let ada: Person
  let grace: Person
  let eve: Person
  beforeAll(async () => {
    ada = await service.signIn('ada')
    grace = await service.signIn('grace')
    eve = await service.signIn('eve')
  })

  /** A conversation with threads of ada, each with a reply of hers. */
  async function startRoom(threads: number) {
    const { conversation_id } = await ada.conversations.create()
    await ada.participants.add(conversation_id, { user_id: grace.id })
    const roots: string[] = []
    const replies: string[] = []
    for (let n = 0; n < threads; n++) {
      const { root_id } = await ada.messages.postRoot(conversation_id, { content: `root ${n}` })
      roots.push(root_id)
      replies.push((await ada.messages.reply(root_id, { content: `reply ${n}` })).message_id)
    }
    return { conversation_id, roots, replies }
  }

  const unreadOf = async (person: Person, id: string) =>
    Object.fromEntries((await person.threads.unread(id)).threads.map(({ root_id, unread }) => [root_id, unread]))

  it('read all roots, or all messages, up to one or to the newest', async () => {
    const { conversation_id, roots, replies } = await startRoom(3)
    await grace.conversations.markRead(conversation_id, { message_id: replies[1]! })
    expect(await unreadOf(grace, conversation_id)).toEqual({ [roots[0]!]: 1, [roots[1]!]: 1, [roots[2]!]: 2 })
    await grace.conversations.markRead(conversation_id, { message_id: roots[1]!, all: true })
    expect(await unreadOf(grace, conversation_id)).toEqual({ [roots[1]!]: 1, [roots[2]!]: 2 })
    await grace.conversations.markRead(conversation_id)
    expect(await unreadOf(grace, conversation_id)).toEqual({ [roots[1]!]: 1, [roots[2]!]: 1 })
    await grace.conversations.markRead(conversation_id, { all: true })
    expect(await grace.threads.unread(conversation_id)).toMatchObject({ threads: [], total: 0 })
  })

  it('put roots back that others wrote since the reader joined', async () => {
    const { conversation_id, roots, replies } = await startRoom(3)
    await grace.messages.postRoot(conversation_id, { content: 'of grace' })
    await grace.threads.markRead(roots[2]!, {})
    await grace.conversations.markRead(conversation_id, { all: true })
    await grace.conversations.markUnread(conversation_id, { message_id: replies[1]! })
    expect(await unreadOf(grace, conversation_id)).toEqual({ [roots[1]!]: 1, [roots[2]!]: 1 })
    const { threads } = await grace.threads.list(conversation_id)
    expect(threads.map(({ unread, unread_replies }) => [unread, unread_replies])).toEqual([
      [0, 0],
      [1, 0],
      [1, 0],
      [0, 0],
    ])
  })

  it('keep what was marked unread before from a later mark only if that does not reach it', async () => {
    const { conversation_id, roots, replies } = await startRoom(3)
    await grace.conversations.markRead(conversation_id, { all: true })
    for (const message_id of [roots[0]!, replies[2]!])
      await grace.threads.markUnread(roots[message_id === roots[0] ? 0 : 2]!, { message_id })
    await grace.conversations.markRead(conversation_id, { message_id: replies[1]!, all: true })
    expect(await unreadOf(grace, conversation_id)).toEqual({ [roots[2]!]: 1 })
    await grace.conversations.markRead(conversation_id, { all: true })
    expect(await unreadOf(grace, conversation_id)).toEqual({})
  })

  it('are void for a participant who joins again', async () => {
    const { conversation_id, roots } = await startRoom(1)
    await grace.conversations.markRead(conversation_id, { all: true })
    await grace.threads.markUnread(roots[0]!, { message_id: roots[0]! })
    await ada.participants.remove(conversation_id, grace.id)
    await ada.participants.add(conversation_id, { user_id: grace.id })
    expect(await unreadOf(grace, conversation_id)).toEqual({})
    await grace.conversations.markUnread(conversation_id, { message_id: roots[0]! })
    expect(await unreadOf(grace, conversation_id)).toEqual({})
    await ada.messages.reply(roots[0]!, { content: 'new' })
    expect(await unreadOf(grace, conversation_id)).toEqual({ [roots[0]!]: 1 })
  })

  it('reach the own streams of the reader, and only when something changes', async () => {
    const { conversation_id, roots, replies } = await startRoom(2)
    const { cookie } = await signInByHand(service.base_url, grace.email, PASSWORD)
    const stream = await openStream(service.base_url, conversation_id, { cookie })
    await stream.until('stream.ready')
    const at = async (id: string) => (await grace.messages.get(id)).created_at
    const as_of = await at(replies[1]!)
    const events: unknown[] = []
    // Two nodes send their events in any order.
    const eventOf = async (mark: Promise<unknown>) => {
      await mark
      for (const { length } = events; events.length === length; ) {
        const { event } = (await stream.next())!
        if (['conversation.unread', 'unread.update'].includes(event.type))
          events.push({ type: event.type, ...event.payload })
      }
    }
    await eventOf(grace.conversations.markRead(conversation_id))
    await grace.conversations.markRead(conversation_id)
    await eventOf(grace.conversations.markUnread(conversation_id, { message_id: replies[1]! }))
    await eventOf(grace.threads.markRead(roots[0]!, {}))
    await eventOf(grace.conversations.markRead(conversation_id, { all: true }))
    await grace.conversations.markRead(conversation_id, { all: true })
    await eventOf(grace.threads.markUnread(roots[1]!, { message_id: replies[1]! }))
    const one = { type: 'conversation.unread', conversation_id, as_of }
    expect(events).toEqual([
      { ...one, change: 'roots_read', at: as_of, unread: 0, unread_replies: 0 },
      { ...one, change: 'roots_unread', at: await at(roots[1]!), unread: 1, unread_replies: 0 },
      {
        ...{ type: 'unread.update', conversation_id, root_id: roots[0]!, as_of },
        ...{ unread: 0, unread_replies: 0, conversation_unread: 1, conversation_unread_replies: 0 },
      },
      { ...one, change: 'all_read', at: as_of, unread: 0, unread_replies: 0 },
      {
        ...{ type: 'unread.update', conversation_id, root_id: roots[1]!, as_of },
        ...{ unread: 1, unread_replies: 1, conversation_unread: 0, conversation_unread_replies: 0 },
      },
    ])
    await stream.close()
  })

  it('read the notifications of what they read, and of having been added', async () => {
    const { conversation_id, roots } = await startRoom(1)
    const { root_id } = await ada.messages.postRoot(conversation_id, { content: 'hello @grace' })
    await ada.messages.reply(roots[0]!, { content: 'and here @grace' })
    const kinds = async () => {
      const { notifications } = await grace.notifications.list({ unread: true, conversation: conversation_id })
      return notifications.map(({ kind, message_id }) => [kind, message_id === root_id ? 'root' : undefined])
    }
    expect(await kinds()).toHaveLength(3)
    await grace.conversations.markRead(conversation_id)
    expect(await kinds()).toEqual([['mention', undefined]])
    await grace.conversations.markRead(conversation_id, { all: true })
    expect(await kinds()).toEqual([])
  })

  it('change nothing in an empty conversation, and need a message that is there', async () => {
    const { conversation_id } = await grace.conversations.create()
    await grace.conversations.markRead(conversation_id)
    await grace.conversations.markRead(conversation_id, { all: true })
    const { roots } = await startRoom(1)
    for (const mark of ['markRead', 'markUnread'] as const) {
      expect(await codeOf(grace.conversations[mark](conversation_id, { message_id: roots[0]! }))).toBe('not_found')
      expect(await codeOf(eve.conversations[mark](conversation_id, { message_id: roots[0]! }))).toBe('not_found')
    }
    expect(await codeOf(eve.conversations.markRead(conversation_id, { all: true }))).toBe('not_found')
  })

  it('name the readers of each message', async () => {
    const { conversation_id, roots, replies } = await startRoom(2)
    await ada.conversations.rename(conversation_id, { policy: { receipts: 'on' } })
    const readers = async (id: string) =>
      (await ada.receipts.ofMessage(id, {})).readers.map(({ user_id }) => user_id === grace.id)
    await grace.conversations.markRead(conversation_id)
    expect([await readers(roots[0]!), await readers(replies[0]!)]).toEqual([[true], []])
    const { readers: ofThread } = await ada.receipts.ofThread(roots[0]!)
    expect(ofThread).toEqual([{ user_id: grace.id, read_at: (await ada.messages.get(roots[0]!)).created_at }])
    await grace.conversations.markRead(conversation_id, { message_id: replies[0]!, all: true })
    expect([await readers(replies[0]!), await readers(replies[1]!)]).toEqual([[true], []])
    await grace.conversations.markUnread(conversation_id, { message_id: roots[0]! })
    expect([await readers(roots[0]!), await readers(replies[0]!)]).toEqual([[], [true]])
  })

  it('write no row of a thread, and leave out what commits at the same time', async () => {
    const { conversation_id, roots } = await startRoom(3)
    const posts = times(20, (n) =>
      n % 2
        ? ada.messages.reply(roots[n % 3]!, { content: `${n}` })
        : ada.messages.postRoot(conversation_id, { content: `${n}` }),
    )
    const marks = times(5, () => grace.conversations.markRead(conversation_id, { all: true }))
    await Promise.all([...posts, ...marks])
    const { db } = innerState(service)
    const rows = await db.all(sql`SELECT root_id FROM thread_members WHERE user_id = ${grace.id}`)
    expect(rows.filter((row) => (roots as unknown[]).includes(row.root_id))).toEqual([])
    const { threads, total } = await grace.threads.unread(conversation_id)
    expect(threads.reduce((sum, { unread }) => sum + unread, 0)).toBe(total)
    expect((await service.chat.ops.fsck()).findings).toEqual([])
    await grace.conversations.markRead(conversation_id, { all: true })
    expect((await grace.threads.unread(conversation_id)).total).toBe(0)
  })
})
