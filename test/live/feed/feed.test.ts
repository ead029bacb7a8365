import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ConversationStreamEvent } from '../../../lib/chat/events/schema.ts'
import type { Reader } from '../../../lib/live/readers/reader.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { innerState, PASSWORD, type Person, startService, type TestService, times } from '../../support/service.ts'
import { openStream, signInByHand } from '../../support/stream.ts'
import { inTens } from '../readers.ts'

describeOnEachDatabase('the stream of all conversations', (openUrl) => {
  let nodes: TestService[]
  let ada: Person
  let grace: Person
  let headers: { cookie: string }
  beforeAll(async () => {
    const url = await openUrl()
    nodes = [await startService(url), await startService(url)]
    ada = await nodes[0]!.signIn('ada')
    grace = await nodes[0]!.signIn('grace')
    headers = await signInByHand(nodes[0]!.base_url, ada.email, PASSWORD)
  })
  afterAll(async () => {
    for (const node of nodes) await node.close()
  })

  const open = (last_event_id?: string, node = 0) =>
    openStream(nodes[node]!.base_url, undefined, { ...headers, ...(last_event_id !== undefined && { last_event_id }) })
  const converse = async (person: Person) => (await person.conversations.create()).conversation_id
  const post = (person: Person, conversation_id: string, content: string) =>
    person.messages.postRoot(conversation_id, { content })
  const says = (content: string) => (event: ConversationStreamEvent) =>
    event.type === 'message.new' && event.payload.message.content === content
  const contentOf = (event: ConversationStreamEvent) =>
    event.type === 'message.new' ? [event.payload.message.content] : []

  it('has the events of every conversation, including those joined later, and of no other', async () => {
    const [first, second, foreign] = [await converse(ada), await converse(ada), await converse(grace)]
    const stream = await open()
    expect((await stream.next())!.event).toEqual({
      type: 'stream.ready',
      payload: { resumed: false, last_event_id: expect.any(String) },
    })
    await post(ada, first, 'one')
    await post(grace, foreign, 'hidden')
    await post(ada, second, 'two')
    const third = await converse(ada)
    await grace.participants.add(foreign, { user_id: ada.id })
    await post(ada, third, 'three')
    await post(grace, foreign, 'four')
    // Of different conversations: any of them may be the last.
    const missing = new Set(['one', 'two', 'three', 'four'])
    const seen = await stream.until('message.new', (event) => {
      for (const content of contentOf(event)) missing.delete(content)
      return missing.size === 0
    })
    expect(seen.flatMap(({ event }) => contentOf(event)).sort()).toEqual(['four', 'one', 'three', 'two'])
    expect(seen.filter(({ event }) => event.type === 'membership.changed')).toHaveLength(2)
    await stream.close()
  })

  it('gets a message and the activity of its thread in one write', async () => {
    const conversation_id = await converse(ada)
    const { message_id } = await post(ada, conversation_id, 'root')
    const {
      streams: { hub },
      now,
    } = innerState(nodes[0]!)
    const writes: string[][] = []
    const reader: Reader = {
      conversation_id: undefined,
      user_id: ada.id,
      session_id: undefined,
      key_id: undefined,
      login: undefined,
      since: now(),
      is_system: false,
      is_outside: false,
      sink: {
        write: ({ events }) => void writes.push(events.map(({ event }) => event.type)),
        pending: () => 0,
        drained: async () => {},
        end() {},
      },
      wait_ms: undefined,
      expires_at: Number.POSITIVE_INFINITY,
      following: undefined,
      gets_presence: true,
      closed: false,
    }
    hub.reserve(ada.id)
    const close = hub.connect(reader)
    await expect.poll(() => writes.flat()).toContain('stream.ready')
    await ada.messages.reply(message_id, { content: 'reply' })
    await expect.poll(() => writes.flat()).toContain('thread.activity')
    expect(writes).toContainEqual(['message.new', 'thread.activity'])
    close()
  })

  it('reports a removal, and then nothing more of that conversation', async () => {
    const theirs = await converse(grace)
    await grace.participants.add(theirs, { user_id: ada.id })
    const mine = await converse(ada)
    const stream = await open()
    const ready = await stream.next()
    await post(grace, theirs, 'before')
    await grace.participants.remove(theirs, ada.id)
    await post(grace, theirs, 'after')
    await post(ada, mine, 'end')
    const live = await stream.until('message.new', says('end'))
    expect(live.flatMap(({ event }) => contentOf(event))).toEqual(['before', 'end'])
    expect(live.some(({ event }) => event.type === 'membership.changed' && event.payload.action === 'removed')).toBe(
      true,
    )
    await stream.close()

    // A user who has lost the right to it gets no message of it in a replay either.
    const replay = await open(ready!.id)
    const replayed = await replay.until('message.new', says('end'))
    expect(replayed[0]!.event).toMatchObject({ type: 'stream.ready', payload: { resumed: true } })
    expect(replayed.flatMap(({ event }) => contentOf(event))).toEqual(['end'])
    expect(
      replayed.some(({ event }) => event.type === 'membership.changed' && event.payload.action === 'removed'),
    ).toBe(true)
    await replay.close()
  })

  it('resumes all of them from one id, on any node, under concurrent writes: no gap, no repeat, each in its order', async () => {
    const conversations = await Promise.all(times(5, () => converse(ada)))
    const stream = await open()
    let last = (await stream.next())!.id!
    await stream.close()

    const writers = conversations.flatMap((conversation_id, c) =>
      times(2, async (w) => {
        for (let i = 0; i < 12; i++) await post(ada, conversation_id, `${c}/${w}/${i}`)
      }),
    )
    const seen: string[] = []
    const ids: string[] = []
    for (let round = 0; seen.length < 120; round++) {
      const stream = await open(last, round % 2)
      for (let i = 0; i < 17 && seen.length < 120; i++) {
        const received = await stream.next()
        if (!received?.id || received.event.type === 'stream.ready') continue
        last = received.id
        ids.push(last)
        if (received.event.type === 'message.new') {
          const { conversation_id, content } = received.event.payload.message
          seen.push(`${conversation_id} ${content}`)
        }
      }
      await stream.close()
    }
    await Promise.all(writers)
    expect(new Set(ids).size).toBe(ids.length)
    expect(new Set(seen).size).toBe(120)
    for (const [c, conversation_id] of conversations.entries()) {
      const { threads } = await ada.threads.list(conversation_id, { limit: 200 })
      const ordered = threads.map((thread) => thread.root_excerpt).reverse()
      expect(
        seen.filter((each) => each.startsWith(conversation_id)).map((each) => each.split(' ')[1]),
        `${c}`,
      ).toEqual(ordered)
    }
  })

  it('resumes from the id of an event whose conversation was deleted', async () => {
    const kept = await converse(ada)
    await post(ada, kept, 'kept')
    const removed = await converse(ada)
    const stream = await open()
    await stream.next()
    await post(ada, removed, 'removed')
    const last = (await stream.until('message.new', says('removed'))).at(-1)!.id!
    await stream.close()
    // The events with the highest numbers are deleted with it.
    await ada.conversations.remove(removed)
    await Promise.all(nodes.map(({ chat }) => innerState(chat).tasks.settle()))
    const { db } = innerState(nodes[0]!)
    expect(await db.all(sql`SELECT id FROM events WHERE conversation_id = ${removed}`)).toEqual([])

    for (const node of [0, 1]) {
      const resumed = await open(last, node)
      expect((await resumed.next())!.event).toMatchObject({
        type: 'stream.ready',
        payload: { resumed: true, last_event_id: last },
      })
      await post(ada, kept, `to node ${node}`)
      const seen = await resumed.until('message.new', says(`to node ${node}`))
      expect(seen.map(({ event }) => event.type)).not.toContain('stream.reset')
      await resumed.close()
    }
    // Nor is an id that was never issued mistaken for one of those.
    const beyond = await open(`${last.split('.')[0]}.9000000000000000`)
    expect((await beyond.until('stream.reset')).at(-1)!.event.payload).toMatchObject({ reason: 'future' })
    await beyond.close()
  })

  it('resumes after any number of missed events, in many conversations and in one', { timeout: 60_000 }, async () => {
    const { chat } = nodes[0]!
    const actor = await chat.users.actor(ada.id)
    const conversations = await Promise.all(times(40, () => converse(ada)))
    const stream = await open()
    const from = (await stream.next())!.id
    await stream.close()
    const write = (conversation_id: string, count: number) =>
      inTens(count, (i) => chat.messages.postRoot(actor, conversation_id, { content: `${i}` }))
    for (const conversation_id of conversations) await write(conversation_id, 3)
    await write(conversations[0]!, 400)
    await post(ada, conversations[1]!, 'last')

    const resumed = await open(from, 1)
    const seen = await resumed.until('message.new', says('last'))
    await resumed.close()
    const posted = seen.flatMap(({ event }) => (event.type === 'message.new' ? [event.payload.message.id] : []))
    expect(posted).toHaveLength(40 * 3 + 400 + 1)
    expect(new Set(posted).size).toBe(posted.length)
    const middle = seen[seen.length >> 1]!
    const again = await open(middle.id)
    const rest = await again.until('message.new', says('last'))
    await again.close()
    const replayed = rest.slice(1).filter(({ event }) => event.type !== 'notifications.count')
    expect(replayed.map(({ id }) => id)).toEqual(seen.slice((seen.length >> 1) + 1).map(({ id }) => id))
  })

  it('resumes from no event whose successors are deleted because of their age', async () => {
    const mine = await converse(ada)
    const stream = await open()
    const from = (await stream.next())!.id!
    const { chat } = nodes[0]!
    let resumed = stream
    // PostgreSQL counts the transactions of its whole cluster: after an event, those of other databases may still be open,
    // and what is as new as they are counts as unseen.
    const resumesAfterPruning = async () => {
      await post(ada, mine, 'old')
      const last = (await resumed.until('message.new', says('old'))).at(-1)!.id!
      await resumed.close()
      await innerState(chat).db.run(sql`UPDATE events SET created_at = 1`)
      await chat.ops.prune()
      resumed = await open(last)
      const { payload } = (await resumed.next())!.event as { payload: { resumed: boolean } }
      return payload.resumed
    }
    await expect.poll(resumesAfterPruning).toBe(true)
    const reset = await open(from)
    expect((await reset.until('stream.reset')).at(-1)!.event.payload).toMatchObject({ reason: 'expired' })
    await reset.close()
    await post(ada, mine, 'new')
    await resumed.until('message.new', says('new'))
    await resumed.close()
  })

  it('resumes after the oldest conversation was deleted, but from no event that retention deleted, with an empty log too', async () => {
    const { chat } = nodes[0]!
    const { db } = innerState(chat)
    const oldest = await converse(ada)
    const stream = await open()
    const from = (await stream.next())!.id!
    await stream.close()
    await post(ada, oldest, 'gone')
    const kept = await converse(ada)
    await post(ada, kept, 'kept')
    await db.run(sql`DELETE FROM events WHERE conversation_id = ${oldest}`)
    const resumed = await open(from)
    expect((await resumed.next())!.event).toMatchObject({ type: 'stream.ready', payload: { resumed: true } })
    await resumed.close()
    await db.run(sql`UPDATE events SET created_at = 1`)
    await chat.ops.prune()
    await db.run(sql`DELETE FROM events WHERE conversation_id = ${kept}`)
    const reset = await open(from)
    expect((await reset.until('stream.reset')).at(-1)!.event.payload).toMatchObject({ reason: 'expired' })
    await reset.close()
  })

  it.each(['', 'x', '0123456789abcdef.1', `${'0'.repeat(16)}.99`, `${'0'.repeat(16)}.${'1_'.repeat(99)}--`])(
    'refuses to resume from %j',
    async (id) => {
      const mine = await converse(ada)
      const stream = await open(id)
      expect((await stream.next())!.event).toMatchObject({ type: 'stream.ready', payload: { resumed: false } })
      if (id !== '') expect((await stream.next())!.event).toMatchObject({ type: 'stream.reset' })
      await post(ada, mine, 'live')
      await stream.until('message.new', says('live'))
      await stream.close()
    },
  )

  it("has ephemeral events once, and the reader's own events", async () => {
    const shared = await Promise.all(times(3, () => converse(grace)))
    for (const conversation_id of shared) await grace.participants.add(conversation_id, { user_id: ada.id })
    const root = await post(grace, shared[0]!, 'read me')
    const stream = await open()
    await stream.next()
    // Ephemeral events reach readers who have caught up.
    await post(grace, shared[2]!, 'level')
    await stream.until('message.new', says('level'))
    await grace.presence.sendHeartbeat({ status: 'away' })
    await grace.presence.setTyping({ conversation_id: shared[1]! })
    await ada.threads.markRead(root.root_id)
    const seen = await stream.until('unread.update')
    expect(seen.at(-1)!.event).toMatchObject({
      payload: { conversation_id: shared[0], root_id: root.root_id, unread: 0 },
    })
    expect(seen.filter(({ event }) => event.type === 'typing.update')).toHaveLength(1)
    expect(seen.every(({ id }) => id === undefined)).toBe(true)
    await stream.close()
  })

  it('is a loop of the library and of the client', async () => {
    const mine = await converse(ada)
    const { chat } = nodes[0]!
    const actor = await chat.users.actor(ada.id)
    const loops = [chat.events.followAll(actor), ada.events.followAll()]
    for (const loop of loops) expect((await loop.next()).value!.event.type).toBe('stream.ready')
    const arrived = loops.map(async (loop) => {
      for await (const { event } of loop) if (says('to all')(event)) return true
    })
    await post(ada, mine, 'to all')
    expect(await Promise.all(arrived)).toEqual([true, true])
  })
})
