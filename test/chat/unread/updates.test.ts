import fc from 'fast-check'
import { afterEach, beforeAll, expect, it, vi } from 'vitest'
import { listFollowing } from '../../../lib/chat/unread/updates.ts'
import type { ConversationStreamEvent } from '../../../lib/index.ts'
import { RECOUNT_PARTICIPANTS } from '../../../lib/storage/schema/0029-participant-counts.ts'
import { each, sql } from '../../../lib/storage/sql.ts'
import { inTens, soon } from '../../live/readers.ts'
import { describeService } from '../../support/describe-service.ts'
import { innerState, PASSWORD, type Person, times } from '../../support/service.ts'
import { openStream, signInByHand, type TestStream } from '../../support/stream.ts'

const config = { sse: { max_streams_per_user: 1_000 }, session: { max_sessions_per_user: 1_000 } }

/** As long as the machine needs for 1,000 readers. */
const WAIT = { interval: 10, timeout: 100_000 }

describeService('what is unread after a reply', { config }, (service) => {
  let ada: Person
  let grace: Person
  let eve: Person
  const streams: TestStream[] = []
  beforeAll(async () => {
    ada = await service.signIn('ada')
    grace = await service.signIn('grace')
    eve = await service.signIn('eve')
  })
  afterEach(() => Promise.all(streams.splice(0).map((stream) => stream.close())))

  async function startThread(layout: 'stream' | 'topics' | 'assistant' = 'stream') {
    const { conversation_id } = await ada.conversations.create({ layout })
    for (const { id } of [grace, eve]) await ada.participants.add(conversation_id, { user_id: id })
    const { root_id } = await ada.messages.postRoot(conversation_id, { content: 'Does it run?', role: 'user' })
    return { conversation_id, root_id }
  }

  async function open(person: Person, conversation_id?: string, last_event_id?: string) {
    const { cookie } = await signInByHand(service.base_url, person.email, PASSWORD)
    const stream = await openStream(service.base_url, conversation_id, {
      cookie,
      ...(last_event_id !== undefined && { last_event_id }),
    })
    streams.push(stream)
    await stream.until('stream.ready')
    return stream
  }

  /** What a stream has of unread counts before the next root of the conversation. */
  async function toldBefore(stream: TestStream, conversation_id: string) {
    await service.idle()
    const { root_id } = await eve.messages.postRoot(conversation_id, { content: 'The end', role: 'user' })
    const isEnd = (event: ConversationStreamEvent) =>
      event.type === 'message.new' && event.payload.message.root_id === root_id
    const seen = await stream.until('message.new', isEnd)
    return seen.flatMap(({ event }) => (event.type === 'unread.update' ? [event.payload] : []))
  }

  it('is told at once to the streams of followers, and to no other', async () => {
    const { conversation_id, root_id } = await startThread()
    const own = [await open(ada, conversation_id), await open(ada)]
    const others = [await open(eve, conversation_id), await open(grace)]
    const { message } = await grace.messages.reply(root_id, { content: 'It runs.' })
    for (const stream of own) {
      const seen = await stream.until('unread.update')
      const types = seen.map(({ event }) => event.type).filter((type) => !/^(presence|notification|typing)/.test(type))
      expect(types).toEqual(['message.new', 'thread.activity', 'unread.update'])
      const counts = {
        unread: 1,
        unread_replies: 1,
        conversation_unread: 1,
        conversation_unread_replies: 1,
        as_of: message.created_at,
      }
      expect(seen.at(-1)!.event.payload).toEqual({ conversation_id, root_id, ...counts })
    }
    for (const stream of others) expect(await toldBefore(stream, conversation_id)).toEqual([])
  })

  it('is told of several replies in a second by the last', async () => {
    const { conversation_id, root_id } = await startThread()
    const stream = await open(ada, conversation_id)
    let last = ''
    for (let n = 0; n < 5; n++) last = (await grace.messages.reply(root_id, { content: `${n}` })).message.created_at
    const isLast = ({ type, payload }: ConversationStreamEvent) => type === 'unread.update' && payload.as_of === last
    const told = (await stream.until('unread.update', isLast)).filter(({ event }) => event.type === 'unread.update')
    expect(told.at(-1)!.event.payload).toMatchObject({ unread: 5, unread_replies: 5, conversation_unread: 5 })
  })

  it.each(['topics', 'assistant'] as const)(
    'is not told in the layout %s, which counts every message',
    async (layout) => {
      const { conversation_id, root_id } = await startThread(layout)
      const stream = await open(ada, conversation_id)
      await grace.messages.reply(root_id, { content: 'It runs.', role: 'user' })
      expect(await toldBefore(stream, conversation_id)).toEqual([])
    },
  )

  it('is told to a user whom an edit lets follow the thread, since the message', async () => {
    const { conversation_id, root_id } = await startThread()
    const { message_id } = await eve.messages.reply(root_id, { content: 'Look.' })
    const { message } = await eve.messages.reply(root_id, { content: 'Here.' })
    const stream = await open(grace, conversation_id)
    await eve.messages.edit(message_id, { content: 'Look, @grace.' })
    const seen = await stream.until('unread.update')
    const types = seen.map(({ event }) => event.type).filter((type) => /followed|unread.update/.test(type))
    expect(types).toEqual(['thread.followed', 'unread.update'])
    const counts = {
      unread: 3,
      unread_replies: 2,
      conversation_unread: 3,
      conversation_unread_replies: 2,
      as_of: message.created_at,
    }
    expect(seen.at(-1)!.event.payload).toEqual({ conversation_id, root_id, ...counts })
  })

  it('is told in a direct conversation of every thread', async () => {
    const { conversation_id } = await ada.conversations.direct({ user_id: grace.id })
    const { root_id } = await ada.messages.postRoot(conversation_id, { content: 'Hello' })
    await grace.threads.unfollow(root_id)
    const stream = await open(grace)
    const { message } = await ada.messages.reply(root_id, { content: 'Are you there?' })
    const seen = await stream.until('unread.update')
    const counts = {
      unread: 2,
      unread_replies: 1,
      conversation_unread: 2,
      conversation_unread_replies: 1,
      as_of: message.created_at,
    }
    expect(seen.at(-1)!.event.payload).toEqual({ conversation_id, root_id, ...counts })
  })

  it('follows the replies that a stream is sent because it missed them', async () => {
    const { conversation_id, root_id } = await startThread()
    const position = (await ada.conversations.get(conversation_id)).stream_position!
    for (const content of ['It runs.', 'On steam.']) await grace.messages.reply(root_id, { content })
    const stream = await open(ada, conversation_id, position)
    const seen = await stream.until('unread.update')
    expect(seen.filter(({ event }) => event.type === 'message.new')).toHaveLength(2)
    expect(seen.at(-1)!.event.payload).toMatchObject({ root_id, unread: 2, conversation_unread: 2 })
  })

  it('is right in rows of an older process, and while an author is erased', async () => {
    const { conversation_id, root_id } = await startThread()
    const mallory = await service.signIn('mallory')
    await ada.participants.add(conversation_id, { user_id: mallory.id })
    await mallory.messages.reply(root_id, { content: 'Buy' })
    const { db } = innerState(service.chat)
    await db.write(async (tx) => {
      await tx.run(sql`UPDATE conversations SET root_count = NULL, counted_seq = NULL WHERE id = ${conversation_id}`)
      await tx.run(sql`INSERT INTO erased_authors (user_id, messages, erased_at) VALUES (${mallory.id}, 'erase', 1)`)
    })
    const stream = await open(ada, conversation_id)
    await grace.messages.reply(root_id, { content: 'It runs.' })
    const seen = await stream.until('unread.update')
    expect(seen.at(-1)!.event.payload).toMatchObject({ unread: 1, unread_replies: 1, conversation_unread: 1 })
    await db.write((tx) => tx.run(sql`DELETE FROM erased_authors WHERE user_id = ${mallory.id}`))
  })

  it('is read by one statement for all followers of a reply, and for a root by none', async () => {
    const { conversation_id, root_id } = await startThread()
    await grace.messages.reply(root_id, { content: 'It runs.' })
    await eve.messages.reply(root_id, { content: 'On steam.' })
    const followers = [ada, eve, ada, eve]
    const all = await Promise.all(followers.map((person) => open(person, conversation_id)))
    await service.idle()
    const { streams: live, db } = innerState(service.chat)
    expect(live.hub.size()).toBe(followers.length)
    let statements = 0
    const { snapshot } = db
    db.snapshot = (work, options) =>
      snapshot(
        (queries) =>
          work({
            ...queries,
            all(text) {
              if (text.text.includes('AS newest')) statements++
              return queries.all(text)
            },
          }),
        options,
      )
    try {
      await grace.messages.postRoot(conversation_id, { content: 'A root' })
      await service.idle()
      expect(statements).toBe(0)
      await grace.messages.reply(root_id, { content: 'Look.' })
      for (const stream of all) await stream.until('unread.update')
      expect(statements).toBe(1)
    } finally {
      db.snapshot = snapshot
    }
  })

  it('reads the followers of a thread where more users read, and no more of them than users', async () => {
    const { root_id } = await startThread()
    const { db } = innerState(service.chat)
    const ids = times(2_500, (n) => `${root_id}-${n}`)
    await grace.messages.reply(root_id, { content: 'It runs.' })
    await eve.threads.markRead(root_id)
    let rows = 0
    const counting: typeof db = {
      ...db,
      async all(text) {
        const found = await db.all(text)
        rows += found.length
        return found as never
      },
    }
    const following = async (...userIds: string[]) => {
      rows = 0
      return (await listFollowing(counting, root_id, new Set(userIds))).sort()
    }
    // The author of the root, and of the reply.
    expect(await following(...ids, eve.id, ada.id, grace.id)).toEqual([ada.id, grace.id].sort())
    expect(rows).toBe(2)
    await db.write((tx) =>
      tx.run(
        sql`INSERT INTO thread_members (root_id, user_id, followed_at) SELECT ${root_id}, value, 2 FROM ${each(tx, ids)}`,
      ),
    )
    expect(await following(ids[7]!, eve.id, grace.id)).toEqual([ids[7]!, eve.id, grace.id].sort())
    expect(rows).toBeLessThanOrEqual(1_000)
    expect(await following(...ids, eve.id, ...times(500, (n) => `nobody ${n}`))).toEqual([...ids].sort())
    expect(rows).toBe(2_502)
  })

  /** The number of a conversation as a client has it that reads once, and then only folds its stream. */
  function folding(person: Person, unread: number) {
    const state = { unread }
    const arrivals: string[] = []
    return {
      state,
      fold(event: ConversationStreamEvent): void {
        if (event.type === 'message.new') {
          const { parent_id, author_user_id, created_at } = event.payload.message
          if (parent_id || author_user_id === person.id) return
          state.unread++
          arrivals.push(created_at)
        }
        if (event.type !== 'unread.update' && event.type !== 'conversation.unread') return
        const own = event.type === 'unread.update' ? event.payload.conversation_unread : event.payload.unread
        state.unread = own + arrivals.filter((arrival) => arrival > event.payload.as_of).length
      },
    }
  }

  const step = fc.record({ act: fc.nat(6), by: fc.nat(2), which: fc.nat(100) })

  it('makes a stream alone have the number of the reads, whatever happens', { timeout: 120_000 }, async () => {
    const property = fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 15 }), async (steps) => {
      const { conversation_id, root_id } = await startThread()
      const people = [ada, grace, eve]
      const roots = [root_id]
      const stream = await open(ada, conversation_id)
      const { state, fold } = folding(ada, 0)
      const reading = (async () => {
        for (let next = await stream.next(); next; next = await stream.next()) fold(next.event)
      })().catch(() => {})
      for (const { act, by, which } of steps) {
        const root = roots[which % roots.length]!
        const person = people[by]!
        if (act === 0) roots.push((await person.messages.postRoot(conversation_id, { content: 'root' })).root_id)
        if (act === 1) await person.messages.reply(root, { content: 'reply' })
        if (act === 2) await Promise.all(people.map((each) => each.messages.reply(root, { content: 'Hello @ada' })))
        if (act === 3) await Promise.all([ada.threads.markRead(root), grace.messages.reply(root, { content: 'reply' })])
        if (act === 4) await ada.threads.follow(root)
        if (act === 5) await ada.threads.markUnread(root, { message_id: root })
        if (act === 6) await ada.conversations.markRead(conversation_id, { all: which % 2 === 0 })
      }
      const { unread } = await ada.threads.unread(conversation_id)
      await soon(() => expect(state.unread).toBe(unread))
      await stream.close()
      await reading
    })
    await fc.assert(property, { numRuns: 8 })
  })

  it('is told to 1,000 followers, and to those who read slowly when they have read', { timeout: 120_000 }, async () => {
    const { conversation_id } = await ada.conversations.create({ layout: 'stream' })
    const { root_id } = await ada.messages.postRoot(conversation_id, { content: 'Does it run?' })
    // Of each try its own.
    const ids = times(1_000, (n) => `${root_id}-${n}`)
    const { db } = innerState(service.chat)
    await db.write(async (tx) => {
      await tx.run(sql`INSERT INTO users (id, email, email_key, username, username_key, roles, created_at, updated_at)
        SELECT value, value, value, value, value, 'member', 1, 1 FROM ${each(tx, ids)}`)
      await tx.run(sql`INSERT INTO participants (conversation_id, user_id, role, joined_at, seen_count, seen_roots, seen_replies, followed_unread)
        SELECT ${conversation_id}, value, 'member', 1, 0, 0, 0, 0 FROM ${each(tx, ids)}`)
      await tx.run(
        sql`INSERT INTO thread_members (root_id, user_id, followed_at) SELECT ${root_id}, value, 2 FROM ${each(tx, ids)}`,
      )
      await tx.run(RECOUNT_PARTICIPANTS)
    })
    const { max_buffer_bytes } = innerState(service.chat).config.sse
    const readers = await inTens(ids.length, async (n) => {
      const reader = {
        told: [] as number[],
        pending: n % 2 === 0 ? 0 : max_buffer_bytes,
        isReady: false,
        isOpen: true,
      }
      const actor = await service.chat.users.actor(ids[n]!)
      const opening = await (n % 3 === 0
        ? service.chat.events.openAll(actor, {})
        : service.chat.events.open(actor, conversation_id, {}))
      opening.connect({
        write({ events }) {
          for (const { event } of events) {
            if (event.type === 'stream.ready') reader.isReady = true
            if (event.type === 'unread.update') reader.told.push(event.payload.conversation_unread)
          }
        },
        pending: () => reader.pending,
        drained: async () => {},
        end() {
          reader.isOpen = false
        },
      })
      return reader
    })
    const fast = readers.filter(({ pending }) => pending === 0)
    const slow = readers.filter(({ pending }) => pending > 0)
    await vi.waitFor(() => expect(readers.every(({ isReady }) => isReady)).toBe(true), WAIT)
    await service.idle()
    await ada.messages.reply(root_id, { content: 'It runs.' })
    await service.idle()
    expect(fast.every(({ told }) => told.length === 1)).toBe(true)
    await ada.messages.reply(root_id, { content: 'On steam.' })
    await vi.waitFor(() => expect(fast.every(({ told }) => told.at(-1) === 3)).toBe(true), WAIT)
    expect(slow.every(({ told, isOpen }) => told.length === 0 && isOpen)).toBe(true)
    for (const reader of slow) reader.pending = 0
    await vi.waitFor(() => expect(slow.every(({ told }) => told.at(-1) === 3)).toBe(true), WAIT)
    // However many replies: the newest only.
    expect(slow.every(({ told }) => told.length === 1)).toBe(true)
  })
})
