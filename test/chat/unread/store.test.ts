import fc from 'fast-check'
import { expect, it } from 'vitest'
import { currentMicros } from '../../../lib/core/time.ts'
import type { Actor, Chat } from '../../../lib/index.ts'
import { OPERATOR } from '../../../lib/index.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { AS_TWO_NODES } from '../../support/node-pair.ts'
import { innerState, times } from '../../support/service.ts'
import { countAll } from './count-all.ts'
import { createPeople, createPerson, type Known, startChat } from './people.ts'

const PEOPLE = 4

/** The model: every message in the order of arrival, and for each participant the set of the contract. */
interface Model {
  layout: (typeof LAYOUTS)[number]
  messages: ModelMessage[]
  /** The readers: those who are participants. */
  readers: Map<number, ModelReader>
}

interface ModelMessage {
  id: string
  root: string
  author: number
  mentioned: Set<number>
  deletedBy?: number
  isErased?: true
}

interface ModelReader {
  /** The number of messages when the user joined. */
  joined: number
  /** The ids of unread messages of others. */
  unread: Set<string>
  /** The threads that the user follows: from which index of the messages on. */
  follows: Map<string, number>
  /** The threads that the user does not want to follow. */
  refused: Set<string>
}

const LAYOUTS = ['stream', 'topics', 'assistant'] as const

const NEW_READER = (joined: number): ModelReader => ({
  joined,
  unread: new Set(),
  follows: new Map(),
  refused: new Set(),
})

const PICKED = [
  'reply',
  'delete',
  'restore',
  'read',
  'readTo',
  'unreadFrom',
  'readRootsTo',
  'readAllTo',
  'unreadRootsFrom',
  'follow',
  'unfollow',
  'mention',
  'editMention',
  'setLayout',
] as const

const PLAIN = ['root', 'join', 'leave', 'readRoots', 'readAll', 'drift', 'count', 'erase', 'settle', 'fsck'] as const

type Step = { do: (typeof PLAIN)[number]; by: number } | { do: (typeof PICKED)[number]; by: number; pick: number }

const person = fc.nat(PEOPLE - 1)
const step: fc.Arbitrary<Step> = fc.oneof(fc.record({ do: fc.constantFrom(...PLAIN), by: person }), {
  weight: 3,
  arbitrary: fc.record({ do: fc.constantFrom(...PICKED), by: person, pick: fc.nat(1000) }),
})

/** The unread replies that arrived since the reader follows their thread. */
function followedUnread(model: Model, reader: number): number {
  const { unread, follows } = model.readers.get(reader)!
  return model.messages.filter(
    ({ id, root, deletedBy }, index) =>
      unread.has(id) && id !== root && deletedBy === undefined && index >= (follows.get(root) ?? Infinity),
  ).length
}

/** The unread messages of each thread that has any, and of its replies alone. */
function recount(model: Model, reader: number): Map<string, { unread: number; unread_replies: number }> {
  const counts = new Map<string, { unread: number; unread_replies: number }>()
  const { unread } = model.readers.get(reader)!
  for (const { id, root, deletedBy } of model.messages) {
    if (!unread.has(id) || deletedBy !== undefined) continue
    const before = counts.get(root) ?? { unread: 0, unread_replies: 0 }
    counts.set(root, { unread: before.unread + 1, unread_replies: before.unread_replies + (id === root ? 0 : 1) })
  }
  return counts
}

describeOnEachDatabase('unread counts', (openUrl, dialect) => {
  it('equal a naive recount, whatever users do', { timeout: 120_000 }, async () => {
    const database = await openUrl()
    /** It stands still in every second history: instants of posts and marks are unique without it. */
    let heldClock: number | undefined
    const now = () => heldClock ?? currentMicros()
    const nodes = await Promise.all(times(AS_TWO_NODES ? 2 : 1, () => startChat(database, now)))
    const people = await createPeople(nodes[0]!, PEOPLE)
    let calls = 0
    /** The node that did not get the last call. */
    const next = () => nodes[calls++ % nodes.length]!
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), async (steps) => {
        heldClock = heldClock === undefined ? currentMicros() : undefined
        const { conversation_id } = await next().conversations.create(people[0]!)
        const model: Model = { layout: 'stream', messages: [], readers: new Map([[0, NEW_READER(0)]]) }
        for (const each of steps) {
          await apply(next(), people, conversation_id, model, each)
          for (const reader of model.readers.keys()) {
            const counts = recount(model, reader)
            const expected = new Map([...counts].map(([root, { unread }]) => [root, unread]))
            const { threads, ...numbers } = await next().threads.unread(people[reader]!, conversation_id)
            expect(new Map(threads.map((thread) => [thread.root_id, thread.unread]))).toEqual(expected)
            const total = [...expected.values()].reduce((sum, count) => sum + count, 0)
            const roots = [...counts.values()].reduce((sum, count) => sum + count.unread - count.unread_replies, 0)
            const unread_replies = followedUnread(model, reader)
            const unread = model.layout === 'stream' ? roots + unread_replies : total
            expect(numbers).toMatchObject({ total, unread, unread_replies })
            const { conversations } = await next().conversations.list(people[reader]!)
            expect(conversations.find(({ id }) => id === conversation_id)).toMatchObject({ unread, unread_replies })
          }
        }
        for (const [reader, { unread }] of model.readers)
          for (const view of ['roots', 'all'] as const) {
            const { messages, first_unread_id } = await next().messages.list(people[reader]!, conversation_id, {
              view,
              limit: 200,
            })
            const expected = model.messages.flatMap(({ id, root, deletedBy }) =>
              unread.has(id) && deletedBy === undefined && (view === 'all' || id === root) ? id : [],
            )
            expect(messages.flatMap((message) => (message.unread ? message.id : []))).toEqual(expected)
            expect(first_unread_id).toBe(expected[0])
          }
        const listed = await next().threads.list(people[0]!, conversation_id, { limit: 200 })
        const expected = recount(model, 0)
        for (const thread of listed.threads) {
          const { unread = 0, unread_replies = 0 } = expected.get(thread.root_id) ?? {}
          const live = model.messages.filter(
            (message) => message.root === thread.root_id && message.deletedBy === undefined,
          )
          expect(thread).toMatchObject({
            unread,
            unread_replies,
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

/** Performs a step on the service and on the model, if it is possible. */
async function apply(chat: Chat, people: Known[], conversationId: string, model: Model, each: Step): Promise<void> {
  const actor = people[each.by]!
  const reader = model.readers.get(each.by)
  if (each.do === 'join' && !reader) {
    await chat.participants.add(people[0]!, conversationId, { user_id: actor.user_id })
    model.readers.set(each.by, NEW_READER(model.messages.length))
  }
  if (each.do === 'settle') await innerState(chat).tasks.settle()
  if (each.do === 'fsck') expect((await chat.ops.fsck()).findings).toEqual([])
  if (each.do === 'erase' && each.by !== 0) await erase(chat, people, model, each.by)
  if (!reader || each.do === 'erase') return
  if (each.do === 'leave' && each.by !== 0) {
    await chat.participants.remove(actor, conversationId, actor.user_id)
    model.readers.delete(each.by)
  }
  if (each.do === 'drift') await drift(chat, conversationId, each.by)
  if (each.do === 'count') await countAll(innerState(chat))
  if (each.do === 'root') {
    const { message_id: id } = await chat.messages.postRoot(actor, conversationId, { content: 'root' })
    post(model, { id, root: id, author: each.by, mentioned: new Set() })
  }
  if (each.do === 'readRoots' || each.do === 'readAll') {
    const all = each.do === 'readAll'
    await chat.conversations.markRead(actor, conversationId, all ? { all } : {})
    take(model, reader, ({ id, root }) => all || id === root)
  }
  if (!('pick' in each) || model.messages.length === 0) return
  const message = model.messages[each.pick % model.messages.length]!
  if (each.do === 'setLayout') {
    model.layout = LAYOUTS[each.pick % 3]!
    await chat.conversations.rename(people[0]!, conversationId, { layout: model.layout })
  }
  if (each.do === 'follow' && !reader.follows.has(message.root))
    follow(model, each.by, message.root, model.messages.length)
  if (each.do === 'follow') await chat.threads.follow(actor, message.root)
  if (each.do === 'unfollow') {
    await chat.threads.unfollow(actor, message.root)
    reader.follows.delete(message.root)
    reader.refused.add(message.root)
  }
  if (each.do === 'mention' || each.do === 'editMention') await mention(chat, people, model, each, message)
  await (each.do === 'reply' || each.do === 'delete' || each.do === 'restore'
    ? change(chat, actor, model, each, message)
    : mark(chat, actor, conversationId, { model, reader, by: each.by }, each.do, message))
}

/** Replies to a message, deletes or restores it. */
async function change(chat: Chat, actor: Actor, model: Model, each: Step, message: ModelMessage): Promise<void> {
  const isDeleted = message.deletedBy !== undefined
  if (each.do === 'reply' && !isDeleted) {
    const { message_id: id } = await chat.messages.reply(actor, message.id, { content: 'reply' })
    post(model, { id, root: message.root, author: each.by, mentioned: new Set() })
  }
  if (each.do === 'delete' && !isDeleted && (message.author === each.by || each.by === 0)) {
    await chat.messages.remove(actor, message.id)
    message.deletedBy = each.by
  }
  if (each.do === 'restore' && isDeleted && !message.isErased && (message.deletedBy === each.by || each.by === 0)) {
    await chat.messages.restore(actor, message.id)
    delete message.deletedBy
  }
}

/** Erases a person, whose messages go or stay; another one takes the place. A task continues it, at a step of its own. */
async function erase(chat: Chat, people: Known[], model: Model, by: number): Promise<void> {
  const { user_id, username } = people[by]!
  const messages = by === 1 ? 'keep' : 'erase'
  await chat.users.erase(OPERATOR, user_id, { messages })
  model.readers.delete(by)
  for (const message of model.messages) {
    message.mentioned.delete(by)
    if (message.deletedBy === by) message.deletedBy = -1
    if (message.author !== by) continue
    if (messages === 'erase') Object.assign(message, { deletedBy: -1, isErased: true })
    message.author = -1
  }
  const [name, n = '0'] = username.split('-')
  people[by] = await createPerson(chat, `${name}-${Number(n) + 1}`)
}

/** Mentions a person in a reply, or by an edit of an own message. */
async function mention(
  chat: Chat,
  people: Known[],
  model: Model,
  each: Step & { pick: number },
  message: ModelMessage,
) {
  if (message.deletedBy !== undefined) return
  const person = 1 + (each.pick % (PEOPLE - 1))
  const actor = people[each.by]!
  const content = `For @${people[person]!.username}`
  if (each.do === 'mention') {
    const { message_id: id } = await chat.messages.reply(actor, message.id, { content })
    post(model, { id, root: message.root, author: each.by, mentioned: new Set() })
    followMentioned(model, model.messages.at(-1)!, person)
  } else if (message.author === each.by) {
    await chat.messages.edit(actor, message.id, { content })
    followMentioned(model, message, person)
  }
}

function followMentioned(model: Model, message: ModelMessage, person: number): void {
  const reader = model.readers.get(person)
  const index = model.messages.indexOf(message)
  const isNew = !message.mentioned.has(person)
  message.mentioned = new Set(reader && person !== message.author ? [person] : [])
  if (!reader || person === message.author || !isNew || index < reader.joined) return
  if (!reader.follows.has(message.root) && !reader.refused.has(message.root)) follow(model, person, message.root, index)
}

function follow(model: Model, person: number, root: string, since: number): void {
  const reader = model.readers.get(person)!
  reader.follows.set(root, since)
  reader.refused.delete(root)
}

/** Leaves the numbers as a process does that does not know them: of a participant, or of the conversation. */
async function drift(chat: Chat, conversationId: string, by: number): Promise<void> {
  const { db } = innerState(chat)
  if (by % 2 === 0)
    await db.write(async (tx) => {
      await tx.run(
        sql`UPDATE conversations SET counted_seq = counted_seq - 1, root_count = root_count + 3 WHERE id = ${conversationId}`,
      )
      await tx.run(
        sql`UPDATE participants SET followed_unread = followed_unread + 5 WHERE conversation_id = ${conversationId}`,
      )
    })
  else
    await db.write((tx) =>
      tx.run(sql`UPDATE participants SET seen_replies = seen_replies - 3, followed_unread = 7
      WHERE conversation_id = ${conversationId}`),
    )
}

/** Marks a thread, or the conversation, by a message. */
async function mark(
  chat: Chat,
  actor: Actor,
  conversationId: string,
  { model, reader, by }: { model: Model; reader: ModelReader; by: number },
  how: Step['do'],
  { id: message_id, root }: ModelMessage,
): Promise<void> {
  const indexOf = (id: string) => model.messages.findIndex((message) => message.id === id)
  const [at, rootAt] = [indexOf(message_id), indexOf(root)]
  const isRoot = (message: ModelMessage) => message.id === message.root
  if (how === 'read') {
    await chat.threads.markRead(actor, root, {})
    take(model, reader, (message) => message.root === root)
  }
  if (how === 'readTo') {
    await chat.threads.markRead(actor, root, { message_id })
    take(model, reader, (message, index) => message.root === root && index <= at)
  }
  if (how === 'unreadFrom') {
    await chat.threads.markUnread(actor, root, { message_id })
    putBack(model, reader, by, (message, index) => message.root === root && index >= at)
  }
  if (how === 'readRootsTo') {
    await chat.conversations.markRead(actor, conversationId, { message_id })
    take(model, reader, (message, index) => isRoot(message) && index <= rootAt)
  }
  if (how === 'readAllTo') {
    await chat.conversations.markRead(actor, conversationId, { message_id, all: true })
    take(model, reader, (_, index) => index <= at)
  }
  if (how === 'unreadRootsFrom') {
    await chat.conversations.markUnread(actor, conversationId, { message_id })
    putBack(model, reader, by, (message, index) => isRoot(message) && index >= rootAt)
  }
}

/** A message arrives. */
function post(model: Model, message: ModelMessage): void {
  model.messages.push(message)
  const author = model.readers.get(message.author)!
  if (!author.follows.has(message.root)) follow(model, message.author, message.root, model.messages.length - 1)
  for (const [user, { unread }] of model.readers) if (user !== message.author) unread.add(message.id)
}

type Meant = (message: ModelMessage, index: number) => boolean

function take(model: Model, { unread }: ModelReader, isMeant: Meant): void {
  for (const { id } of model.messages.filter(isMeant)) unread.delete(id)
}

/** Only messages of others since joining are added. */
function putBack(model: Model, { joined, unread }: ModelReader, by: number, isMeant: Meant): void {
  for (const { id } of model.messages.filter(
    (message, index) => isMeant(message, index) && message.author !== by && index >= joined,
  ))
    unread.add(id)
}
