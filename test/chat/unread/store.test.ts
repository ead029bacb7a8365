import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Actor, Chat } from '../../../lib/index.ts'
import { createChatService, openStorage, parseConfig } from '../../../lib/index.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { AS_TWO_NODES } from '../../support/node-pair.ts'
import { times } from '../../support/service.ts'

const OPERATOR: Actor = { user_id: '', roles: ['admin'] }
const PEOPLE = 4

/** The model: every message in the order of arrival, and the read markers of each user. */
interface Model {
  messages: { id: string; root: string; author: number; deletedBy?: number }[]
  /** The number of messages when a user joined; missing for users who are not participants. */
  joined: Map<number, number>
  /** The number of messages up to which a thread was read, by user and root. */
  marks: Map<string, number>
}

type Step =
  | { do: 'root' | 'join' | 'leave'; by: number }
  | { do: 'reply' | 'delete' | 'restore' | 'read' | 'readTo' | 'unreadFrom'; by: number; pick: number }

const person = fc.nat(PEOPLE - 1)
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constantFrom('root' as const, 'join' as const, 'leave' as const), by: person }),
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom('reply', 'delete', 'restore', 'read', 'readTo', 'unreadFrom'),
      by: person,
      pick: fc.nat(1000),
    }),
  },
)

function recount(model: Model, reader: number): Map<string, number> {
  const counts = new Map<string, number>()
  model.messages.forEach((message, index) => {
    const seen = Math.max(model.joined.get(reader)!, model.marks.get(`${reader}/${message.root}`) ?? 0)
    if (message.author === reader || message.deletedBy !== undefined || index < seen) return
    counts.set(message.root, (counts.get(message.root) ?? 0) + 1)
  })
  return counts
}

describeOnEachDatabase('unread counts', (openUrl, dialect) => {
  it('equal a naive recount, whatever users do', { timeout: 120_000 }, async () => {
    const database = await openUrl()
    const nodes = await Promise.all(times(AS_TWO_NODES ? 2 : 1, () => startChat(database)))
    const people = await createPeople(nodes[0]!)
    let calls = 0
    /** The node that did not get the last call. */
    const next = () => nodes[calls++ % nodes.length]!
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), async (steps) => {
        const { conversation_id } = await next().conversations.create(people[0]!)
        const model: Model = { messages: [], joined: new Map([[0, 0]]), marks: new Map() }
        for (const each of steps) {
          await apply(next(), people, conversation_id, model, each)
          for (const reader of model.joined.keys()) {
            const expected = recount(model, reader)
            const { threads, total } = await next().threads.unread(people[reader]!, conversation_id)
            expect(new Map(threads.map((thread) => [thread.root_id, thread.unread]))).toEqual(expected)
            expect(total).toBe([...expected.values()].reduce((sum, count) => sum + count, 0))
            const { conversations } = await next().conversations.list(people[reader]!)
            expect(conversations.find(({ id }) => id === conversation_id)).toMatchObject({ unread: total })
          }
        }
        const listed = await next().threads.list(people[0]!, conversation_id, { limit: 200 })
        const expected = recount(model, 0)
        for (const thread of listed.threads) {
          const live = model.messages.filter(
            (message) => message.root === thread.root_id && message.deletedBy === undefined,
          )
          expect(thread).toMatchObject({
            unread: expected.get(thread.root_id) ?? 0,
            message_count: live.length,
            participant_count: new Set(live.map((message) => message.author)).size,
          })
        }
      }),
      { numRuns: dialect === 'sqlite' ? 60 : 15 },
    )
    expect((await nodes[0]!.ops.fsck()).findings).toEqual([])
    await Promise.all(nodes.map((node) => node.close()))
  })
})

async function startChat(database: string): Promise<Chat> {
  const config = parseConfig({ security: { password: { bcrypt_cost: 4 } } })
  const chat = createChatService(config, await openStorage({ database, strict: true }))
  await chat.start()
  return chat
}

async function createPeople(chat: Chat): Promise<Actor[]> {
  await chat.setup.run({ email: 'p0@example.org', password: 'correct horse' })
  const { users } = await chat.users.list(OPERATOR)
  const people = [await chat.users.actor(users[0]!.id)]
  for (let i = 1; i < PEOPLE; i++) {
    const { user } = await chat.users.create(OPERATOR, { username: `p${i}`, email: `p${i}@example.org` })
    people.push(await chat.users.actor(user.id))
  }
  return people
}

/** Performs a step on the service and on the model, if it is possible. */
async function apply(chat: Chat, people: Actor[], conversationId: string, model: Model, each: Step): Promise<void> {
  const actor = people[each.by]!
  const isIn = model.joined.has(each.by)
  if (each.do === 'join' && !isIn) {
    await chat.participants.add(people[0]!, conversationId, { user_id: actor.user_id })
    model.joined.set(each.by, model.messages.length)
  }
  if (each.do === 'leave' && isIn && each.by !== 0) {
    await chat.participants.remove(actor, conversationId, actor.user_id)
    model.joined.delete(each.by)
  }
  if (each.do === 'root' && isIn) {
    const { message_id: id } = await chat.messages.postRoot(actor, conversationId, { content: 'root' })
    model.messages.push({ id, root: id, author: each.by })
  }
  if (!('pick' in each) || !isIn || model.messages.length === 0) return
  const message = model.messages[each.pick % model.messages.length]!
  if (each.do === 'reply' && message.deletedBy === undefined) {
    const { message_id: id } = await chat.messages.reply(actor, message.id, { content: 'reply' })
    model.messages.push({ id, root: message.root, author: each.by })
  }
  if (each.do === 'delete' && message.deletedBy === undefined && (message.author === each.by || each.by === 0)) {
    await chat.messages.remove(actor, message.id)
    message.deletedBy = each.by
  }
  if (each.do === 'restore' && message.deletedBy !== undefined && (message.deletedBy === each.by || each.by === 0)) {
    await chat.messages.restore(actor, message.id)
    delete message.deletedBy
  }
  if (each.do === 'read' || each.do === 'readTo') {
    const inThread = model.messages
      .map((other, index) => ({ other, index }))
      .filter(({ other }) => other.root === message.root)
    const to = each.do === 'read' ? inThread.at(-1)!.index : model.messages.indexOf(message)
    await chat.threads.markRead(actor, message.root, each.do === 'read' ? {} : { message_id: message.id })
    const key = `${each.by}/${message.root}`
    model.marks.set(key, Math.max(model.marks.get(key) ?? 0, to + 1))
  }
  if (each.do === 'unreadFrom') {
    await chat.threads.markUnread(actor, message.root, { message_id: message.id })
    const key = `${each.by}/${message.root}`
    model.marks.set(key, Math.min(model.marks.get(key) ?? 0, model.messages.indexOf(message)))
  }
}
