import fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import type { Actor, Chat } from '../../../lib/index.ts'
import { OPERATOR } from '../../../lib/index.ts'
import type { Writing } from '../../../lib/storage/database.ts'
import type { Storage } from '../../../lib/storage/open.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { describeService } from '../../support/describe-service.ts'
import { codeOf, innerState, PASSWORD, type Person, times } from '../../support/service.ts'
import { openStream, signInByHand } from '../../support/stream.ts'
import { createPeople, type Known, startChat } from './people.ts'

/** What a reader has of all conversations. */
async function viewOf(chat: Chat, actor: Actor) {
  const { conversations } = await chat.conversations.list(actor, { limit: 200, archived: 'all' })
  const { notifications, unread } = await chat.notifications.list(actor, { unread: true, limit: 200 })
  const followed = await chat.threads.listFollowed(actor, { limit: 200 })
  const counts: Record<string, unknown> = {}
  for (const { id, unread, unread_replies, mentions = 0 } of conversations) {
    const { threads, total } = await chat.threads.unread(actor, id, { limit: 200 })
    counts[id] = { unread, unread_replies, mentions, total, threads }
  }
  const kinds = notifications.map(({ kind, conversation_id, count }) => [kind, conversation_id, count])
  return { counts, notifications: { unread, kinds }, followed: followed.unread }
}

/** A refusal changes nothing. */
function refused(error: { code?: string }): void {
  if (!error.code || error.code === 'internal') throw error
}

describeOnEachDatabase('everything read', (openUrl, dialect) => {
  it('has the meaning of a mark of each conversation, with counts that a recount leaves', {
    timeout: 240_000,
  }, async () => {
    const chat = await startChat(await openUrl())
    const people = await createPeople(chat, 4)
    const [ada, grace, eve, mary] = people as [Known, Known, Known, Known]
    const readers = [grace, eve]
    const step = fc.record({ act: fc.nat(9), pick: fc.nat(1000) })
    const property = fc.asyncProperty(fc.array(step, { maxLength: 30 }), fc.nat(100), async (steps, cut) => {
      const rooms: string[] = []
      for (const layout of ['stream', 'topics'] as const) {
        const { conversation_id } = await chat.conversations.create(ada, { layout })
        for (const { user_id } of [grace, eve, mary]) await chat.participants.add(ada, conversation_id, { user_id })
        rooms.push(conversation_id)
      }
      const messages: string[] = []
      const acts: ((room: string, message: string, pick: number) => Promise<unknown>)[] = [
        async (room, _, pick) =>
          messages.push(
            (await chat.messages.postRoot([ada, mary][pick % 2]!, room, { content: pick % 3 ? 'all' : '@p1 @p2' }))
              .message_id,
          ),
        async (_, parent, pick) =>
          messages.push(
            (await chat.messages.reply([ada, mary][pick % 2]!, parent, { content: pick % 3 ? 'so' : '@p1 @p2' }))
              .message_id,
          ),
        (_, id) => chat.messages.remove(OPERATOR, id),
        (_, id) => chat.messages.restore(ada, id),
        async (_, id) => {
          for (const reader of readers)
            await chat.threads.markUnread(reader, (await chat.messages.get(reader, id)).root_id, { message_id: id })
        },
        async (room, id) => {
          for (const reader of readers) await chat.conversations.markUnread(reader, room, { message_id: id })
        },
        async (_, id) => {
          for (const reader of readers) await chat.threads.follow(reader, (await chat.messages.get(reader, id)).root_id)
        },
        async (_, id) => {
          const { root_id } = await chat.messages.get(ada, id)
          for (const reader of readers) await chat.threads.markRead(reader, root_id, { message_id: id })
        },
        async (room) => {
          for (const { user_id } of readers) {
            await chat.participants.remove(ada, room, user_id)
            await chat.participants.add(ada, room, { user_id })
          }
        },
        async (room) => {
          for (const reader of readers) await chat.conversations.markRead(reader, room, { all: true })
        },
      ]
      const run = async ({ act, pick }: { act: number; pick: number }) => {
        const message = messages[pick % Math.max(1, messages.length)] ?? ''
        await acts[act]!(rooms[pick % 2]!, message, pick).catch(refused)
      }
      for (const room of rooms) await acts[0]!(room, '', 0)
      for (const [n, each] of steps.entries()) if (n <= cut) await run(each)
      // The reader by arrival: what came later stays unread.
      const all = await Promise.all(messages.map((id) => chat.messages.get(ada, id)))
      const last = all.map(({ created_at }) => created_at).sort()[cut % all.length]!
      await chat.conversations.markAllRead(grace, { up_to: last })
      for (const room of rooms) {
        const until = all.filter(({ conversation_id, created_at }) => conversation_id === room && created_at <= last)
        const newest = until.sort((a, b) => (a.created_at < b.created_at ? 1 : -1))[0]
        if (newest) await chat.conversations.markRead(eve, room, { message_id: newest.id, all: true })
      }
      const seen = async (reader: Actor) => {
        const { counts, followed } = await viewOf(chat, reader)
        return { rooms: rooms.map((room) => counts[room]), followed }
      }
      expect(await seen(grace)).toEqual(await seen(eve))
      for (const each of steps.slice(cut + 1)) await run(each)
      await chat.conversations.markAllRead(grace)
      for (const room of rooms) await chat.conversations.markRead(eve, room, { all: true })
      const [ofGrace, ofEve] = [await viewOf(chat, grace), await viewOf(chat, eve)]
      expect(ofGrace).toEqual(ofEve)
      expect(ofGrace.notifications).toEqual({ unread: 0, kinds: [] })
      expect((await chat.ops.fsck()).findings).toEqual([])
      for (const room of rooms) await chat.conversations.remove(ada, room)
    })
    await fc.assert(property, { numRuns: dialect === 'sqlite' ? 30 : 8 })
    await chat.close()
  })

  it('is exact beside posts, mentions, marks and removals on two nodes', { timeout: 120_000 }, async () => {
    const database = await openUrl()
    const [one, other] = [await startChat(database), await startChat(database)]
    const [ada, grace, eve] = (await createPeople(one, 3)) as [Known, Known, Known]
    const rooms = await Promise.all(
      times(4, async () => {
        const { conversation_id } = await one.conversations.create(ada, { layout: 'stream' })
        for (const { user_id } of [grace, eve]) await one.participants.add(ada, conversation_id, { user_id })
        return conversation_id
      }),
    )
    const roots = await Promise.all(
      rooms.map(async (room) => (await one.messages.postRoot(ada, room, { content: 'Does it run?' })).root_id),
    )
    for (let round = 0; round < 6; round++) {
      const isAway = round % 2 === 1
      await Promise.all([
        ...rooms.map((room) => one.messages.postRoot(ada, room, { content: `@p1 ${round}` })),
        ...roots.map((root) => other.messages.reply(eve, root, { content: `@p1 so ${round}` })),
        one.conversations.markAllRead(grace),
        other.conversations.markAllRead(grace),
        other.conversations.markAllRead(eve),
        one.conversations.markRead(grace, rooms[1]!, { all: true }),
        isAway
          ? one.participants.remove(ada, rooms[0]!, grace.user_id)
          : one.threads.markUnread(eve, roots[1]!, { message_id: roots[1]! }),
      ])
      if (isAway) await one.participants.add(ada, rooms[0]!, { user_id: grace.user_id })
      expect((await other.ops.fsck()).findings).toEqual([])
    }
    await one.conversations.markAllRead(grace)
    const { counts, notifications } = await viewOf(other, grace)
    for (const room of rooms) expect(counts[room]).toMatchObject({ unread: 0, mentions: 0, total: 0, threads: [] })
    expect(notifications.unread).toBe(0)
    await Promise.all([one.users.erase(OPERATOR, eve.user_id), other.conversations.markAllRead(eve).catch(refused)])
    expect((await other.ops.fsck()).findings).toEqual([])
    await Promise.all([one.close(), other.close()])
  })
})

const statements: string[] = []

/** Notes the statements of all transactions. */
function recording(storage: Storage): Storage {
  const { db } = storage
  const noted = <T extends { text: string }>(sql: T) => {
    statements.push(sql.text)
    return sql
  }
  const recorded = (tx: Writing): Writing => ({
    ...tx,
    all: (sql) => tx.all(noted(sql)),
    get: (sql) => tx.get(noted(sql)),
    run: (sql) => tx.run(noted(sql)),
  })
  return { ...storage, db: { ...db, write: (work, options) => db.write((tx) => work(recorded(tx)), options) } }
}

describeService('POST /api/conversations/read', { wrap: recording }, (service) => {
  let ada: Person
  let grace: Person
  beforeAll(async () => {
    ada = await service.signIn('ada')
    grace = await service.signIn('grace')
  })

  it('makes the same statements in twenty conversations as in one, and changes no conversation', async () => {
    const { db } = innerState(service.chat)
    const fill = async (count: number) => {
      for (let n = 0; n < count; n++) {
        const { conversation_id } = await ada.conversations.create()
        await ada.participants.add(conversation_id, { user_id: grace.id })
        await ada.messages.postRoot(conversation_id, { content: 'hello @grace' })
      }
    }
    const clocks = () => db.all(sql`SELECT id, clock, last_seq FROM conversations ORDER BY id`)
    const statementsOf = async () => {
      const before = await clocks()
      await service.idle()
      statements.length = 0
      await grace.conversations.markAllRead()
      // Jobs have other ones.
      const made = statements.filter((text) => / (conversations|participants|notifications)\b/.test(text))
      expect(await clocks()).toEqual(before)
      return made
    }
    await fill(1)
    const one = await statementsOf()
    await fill(20)
    expect(await statementsOf()).toEqual(one)
    const { conversations } = await grace.conversations.list({ unread: 'true' })
    expect(conversations).toEqual([])
  })

  it('sends one event to all streams of the user, none without a change, and none to others', async () => {
    const { cookie } = await signInByHand(service.base_url, grace.email, PASSWORD)
    const stream = await openStream(service.base_url, undefined, { cookie })
    await stream.until('notifications.count')
    const roots: string[] = []
    for (let n = 0; n < 3; n++) {
      const { conversation_id } = await ada.conversations.create()
      await ada.participants.add(conversation_id, { user_id: grace.id })
      roots.push((await ada.messages.postRoot(conversation_id, { content: 'hello @grace' })).message_id)
    }
    await grace.conversations.markAllRead()
    await grace.conversations.markAllRead()
    await ada.messages.reply(roots[0]!, { content: 'The end' })
    const seen = await stream.until('message.new', (event) => JSON.stringify(event).includes('The end'))
    const own = ['unread.cleared', 'conversation.unread', 'unread.update', 'notification.read']
    const cleared = seen.filter(({ event }) => own.includes(event.type)).map(({ event }) => event)
    expect(cleared).toEqual([{ type: 'unread.cleared', payload: { up_to: expect.any(String), unread: 0 } }])
    const { created_at } = await grace.messages.get(roots[2]!)
    expect((cleared[0]!.payload as { up_to: string }).up_to >= created_at).toBe(true)
    await stream.close()
  })

  it('leaves what arrived after `up_to`, and takes an instant to come for now', async () => {
    const { conversation_id } = await ada.conversations.create({ layout: 'stream' })
    await ada.participants.add(conversation_id, { user_id: grace.id })
    const first = await ada.messages.postRoot(conversation_id, { content: 'hello @grace' })
    const { created_at } = await ada.messages.get(first.message_id)
    const second = await ada.messages.postRoot(conversation_id, { content: 'and again @grace' })
    await grace.conversations.markAllRead({ up_to: created_at })
    const { threads } = await grace.threads.unread(conversation_id)
    expect(threads.map(({ root_id }) => root_id)).toEqual([second.root_id])
    const { notifications } = await grace.notifications.list({ unread: true, conversation: conversation_id })
    expect(notifications.map(({ message_id }) => message_id)).toEqual([second.message_id])
    await grace.conversations.markAllRead({ up_to: '2099-01-01T00:00:00Z' })
    expect(await grace.threads.unread(conversation_id)).toMatchObject({ total: 0 })
    await ada.messages.postRoot(conversation_id, { content: 'later' })
    expect(await grace.threads.unread(conversation_id)).toMatchObject({ total: 1 })
    expect(await codeOf(grace.conversations.markAllRead({ up_to: 'now' }))).toBe('validation_failed')
  })
})
