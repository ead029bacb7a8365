import { expect, it } from 'vitest'
import { type Actor, type Chat, ChatError, OPERATOR } from '../../lib/index.ts'
import type { Database } from '../../lib/storage/database.ts'
import { MIGRATIONS } from '../../lib/storage/schema/migrations.ts'
import { shapeAfter } from '../../lib/storage/schema/shape.ts'
import { name, sql } from '../../lib/storage/sql.ts'
import { createPeople, type Known, startChat } from '../chat/unread/people.ts'
import { createRandom } from '../fault/random.ts'
import { describeOnEachDatabase } from '../support/databases.ts'
import { innerState } from '../support/service.ts'
import { USER_COLUMNS } from './columns.ts'

/** Refusals of random acts: of a thread that was deleted, for example. */
const EXPECTED = new Set([
  'not_found',
  'forbidden',
  'message_deleted',
  'message_not_deleted',
  'conflict',
  'already_participant',
  'last_owner',
  'thread_too_deep',
])

/** The columns in which an id stands although the rows should have moved. */
async function whereNamed(db: Database, id: string): Promise<string[]> {
  const named: string[] = []
  for (const [table, columns] of shapeAfter(MIGRATIONS.length, db.dialect).tables)
    for (const column of columns) {
      const decision = USER_COLUMNS[`${table}.${column}`]
      if (typeof decision === 'object') continue
      const text = sql`CAST(${name(column)} AS TEXT)`
      const row = await db.get(sql`SELECT 1 AS found FROM ${name(table)} WHERE ${text} LIKE ${`%${id}%`} LIMIT 1`)
      if (row) named.push(`${table}.${column}`)
    }
  return named
}

/** Ten acts of any kind by these people in these conversations, some of which are refused. */
function createActs(chat: Chat, people: readonly Known[], random: () => number) {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!
  const rooms: string[] = []
  const messages: { id: string; root_id: string; room: string }[] = []
  const emoji = ['👍', '🎉']

  async function post(actor: Actor, room: string): Promise<void> {
    const mention = random() < 0.4 ? ` @${pick(people).username}` : random() < 0.1 ? ' @all' : ''
    const parent = random() < 0.6 ? pick(messages.filter((message) => message.room === room)) : undefined
    const input = { content: `A text${mention}` }
    const posted = parent
      ? await chat.messages.reply(actor, parent.id, input)
      : await chat.messages.postRoot(actor, room, input)
    messages.push({ id: posted.message_id, root_id: parent?.root_id ?? posted.message_id, room })
  }

  const ACTS: ((actor: Known, message: (typeof messages)[number], room: string) => Promise<unknown>)[] = [
    (actor, _, room) => post(actor, room),
    (actor, _, room) => post(actor, room),
    (actor, _, room) => post(actor, room),
    (actor, { id }) => chat.messages.remove(actor, id),
    (actor, { id }) => chat.messages.restore(actor, id),
    (actor, { id }) => chat.messages.edit(actor, id, { content: `Another @${pick(people).username}` }),
    (actor, { id }) => chat.reactions.add(actor, id, pick(emoji)),
    (actor, { id }) => chat.pins.add(actor, id),
    (actor, { root_id, id }) => chat.threads.markRead(actor, root_id, { message_id: id }),
    (actor, { root_id, id }) => chat.threads.markUnread(actor, root_id, { message_id: id }),
    (actor, { id }, room) => chat.conversations.markRead(actor, room, { message_id: id }),
    (actor, _, room) => chat.conversations.markRead(actor, room, { all: true }),
    (actor, { id }, room) => chat.conversations.markUnread(actor, room, { message_id: id }),
    (actor, { root_id }) => chat.threads.follow(actor, root_id),
    (actor, { root_id }) => chat.threads.unfollow(actor, root_id),
    (actor, _, room) =>
      chat.participants.add(pick(people), room, { user_id: actor.user_id, role: pick(['member', 'admin']) }),
    async (actor, _, room) => random() < 0.15 && chat.participants.remove(actor, room, actor.user_id),
    (actor, _, room) => chat.invites.create(actor, room, { role: 'member' }),
    async (actor) => {
      const other = pick(people)
      const { conversation_id } = await chat.conversations.direct(actor, { user_id: other.user_id })
      if (!rooms.includes(conversation_id)) rooms.push(conversation_id)
      await post(actor, conversation_id)
    },
  ]

  return {
    async open(): Promise<void> {
      const owner = pick(people)
      const { conversation_id } = await chat.conversations.create(owner, { layout: pick(['stream', 'topics']) })
      for (const person of people.filter(() => random() < 0.7))
        if (person !== owner) await chat.participants.add(owner, conversation_id, { user_id: person.user_id })
      rooms.push(conversation_id)
    },
    async act(): Promise<void> {
      const room = pick(rooms)
      const message = pick(messages) ?? { id: room, root_id: room, room }
      await pick(ACTS)(pick(people), message, room).catch((error) => {
        if (!(error instanceof ChatError) || !EXPECTED.has(error.code)) throw error
      })
    },
  }
}

describeOnEachDatabase('a merge after a random history', (openUrl) => {
  it.each([1, 2, 3, 4, 5])('leaves nothing of the one user, and all counts right (seed %i)', async (seed) => {
    const chat = await startChat(await openUrl())
    try {
      const [, from, into, ...others] = await createPeople(chat, 5)
      const acts = createActs(chat, [from!, into!, ...others], createRandom(seed))
      for (let n = 0; n < 3; n++) await acts.open()
      for (let n = 0; n < 300; n++) await acts.act()
      const { db, tasks } = innerState(chat)
      await tasks.settle()
      expect((await chat.ops.fsck()).findings).toEqual([])
      const users = { from: { user_id: from!.user_id }, into: { user_id: into!.user_id } }
      expect((await chat.users.merge(OPERATOR, users)).moved.messages).toBeGreaterThan(3)
      await tasks.settle()
      expect((await chat.ops.fsck()).findings).toEqual([])
      expect(await whereNamed(db, from!.user_id)).toEqual([])
    } finally {
      await chat.close()
    }
  })
})
