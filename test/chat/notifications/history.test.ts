import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Actor, type Chat, createChatService, OPERATOR, openStorage, parseConfig } from '../../../lib/index.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'

const PEOPLE = 3
const person = fc.nat(PEOPLE - 1)
const mentions = fc.option(fc.record({ user_ids: fc.uniqueArray(person, { maxLength: 2 }), all: fc.boolean() }), {
  nil: undefined,
})

/** What a user does with one of the messages. */
const step = fc.record({
  do: fc.constantFrom(
    'root',
    'reply',
    'reply',
    'edit',
    'delete',
    'restore',
    'read',
    'readAll',
    'unread',
    'rootsUnread',
    'seen',
    'seenUpTo',
    'follow',
    'unfollow',
    'join',
    'leave',
  ),
  by: person,
  pick: fc.nat(1000),
  quote: fc.option(fc.nat(1000), { nil: undefined, freq: 2 }),
  mentions,
})
type Step = typeof step extends fc.Arbitrary<infer Each> ? Each : never

describeOnEachDatabase('the inbox after any history', (openUrl, dialect) => {
  it.each([0, 1])(
    'equals its counts, and has one entry for a message (is_direct = %i)',
    { timeout: 120_000 },
    async (direct) => {
      const chat = createChatService(
        parseConfig({ security: { password: { bcrypt_cost: 4 } }, direct: { who: 'everyone' } }),
        await openStorage({ database: await openUrl(), strict: true }),
      )
      await chat.start()
      const people = await createPeople(chat)
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 30, size: 'max' }), async (steps) => {
          const conversation_id = await (direct ? createDirect(chat, people) : createGroup(chat, people))
          const messages: { id: string; root: string }[] = []
          for (const each of steps) {
            // What is refused changes nothing.
            await apply(chat, people, conversation_id, messages, each, direct).catch((error) => {
              if (!error.code) throw error
            })
            for (const reader of people) await expectExact(chat, reader, conversation_id)
          }
          // What is read in the inbox stays unread in its thread.
          if (direct && !steps.some(({ do: kind }) => kind === 'seen' || kind === 'seenUpTo'))
            for (const reader of people.slice(0, 2)) await expectTold(chat, reader, conversation_id)
        }),
        { numRuns: dialect === 'sqlite' ? 40 : 10 },
      )
      expect((await chat.ops.fsck()).findings).toEqual([])
      await chat.close()
    },
  )
})

/** A conversation of all people. */
async function createGroup(chat: Chat, people: Actor[]): Promise<string> {
  const { conversation_id } = await chat.conversations.create(people[0]!)
  for (const { user_id } of people.slice(1)) await chat.participants.add(people[0]!, conversation_id, { user_id })
  return conversation_id
}

/** The conversation of the first two people, with nothing unread in it. */
async function createDirect(chat: Chat, people: Actor[]): Promise<string> {
  const { conversation_id } = await chat.conversations.direct(people[0]!, { user_id: people[1]!.user_id })
  for (const each of people) {
    const [latest] = (await chat.notifications.list(each, { unread: true })).notifications
    if (latest) await chat.notifications.markRead(each, { up_to: latest.id })
  }
  for (const each of people.slice(0, 2)) await chat.conversations.markRead(each, conversation_id, { all: true })
  return conversation_id
}

/** Compares the stored counts of a user with the list. */
async function expectExact(chat: Chat, reader: Actor, conversation_id: string): Promise<void> {
  const { notifications, unread } = await chat.notifications.list(reader, { unread: true, limit: 200 })
  expect(unread === notifications.length || notifications.length === 200).toBe(true)
  const here = notifications.filter((each) => each.conversation_id === conversation_id)
  const counted = here.filter(({ kind }) => ['mention', 'reply', 'mention_all'].includes(kind))
  const { conversations } = await chat.conversations.list(reader, { archived: 'all' })
  const listed = conversations.find(({ id }) => id === conversation_id)
  expect(listed?.mentions ?? 0).toBe(counted.length)
  const own = here.filter(({ count }) => count === undefined).flatMap(({ message_id }) => message_id ?? [])
  expect(new Set(own).size).toBe(own.length)
  const scopes = here.flatMap(({ count, kind, root_id }) => (count ? (kind === 'direct' ? kind : root_id!) : []))
  expect(new Set(scopes).size).toBe(scopes.length)
  if (!listed) return
  const { total } = await chat.threads.unread(reader, conversation_id)
  const { threads } = await chat.threads.list(reader, conversation_id, { limit: 200 })
  for (const { kind, count, excerpt, root_id } of here) {
    if (kind !== 'added') expect(excerpt).toMatch(/./)
    if (kind === 'direct') expect(count).toBe(total)
    if (kind !== 'reply' || count === undefined) continue
    const thread = threads.find((each) => each.root_id === root_id)
    expect(thread).toMatchObject({ following: true })
    expect(count).toBeLessThanOrEqual(thread!.unread_replies!)
  }
}

/** In a direct conversation, an unread notification tells of unread messages, and there is none without. */
async function expectTold(chat: Chat, reader: Actor, conversation_id: string): Promise<void> {
  const { total } = await chat.threads.unread(reader, conversation_id)
  const { notifications } = await chat.notifications.list(reader, { unread: true, conversation: conversation_id })
  expect(notifications.length > 0).toBe(total > 0)
}

async function apply(
  chat: Chat,
  people: Actor[],
  conversation_id: string,
  messages: { id: string; root: string }[],
  each: Step,
  direct: number,
): Promise<void> {
  const actor = people[each.by]!
  const named = each.mentions && {
    mentions: { all: each.mentions.all, user_ids: each.mentions.user_ids.map((n) => people[n]!.user_id) },
  }
  const quote_id = each.quote === undefined ? undefined : messages[each.quote % messages.length]?.id
  const post = { ...named, ...(quote_id && { quote_id }) }
  if (each.do === 'root') {
    const { message_id } = await chat.messages.postRoot(actor, conversation_id, { content: 'root', ...post })
    messages.push({ id: message_id, root: message_id })
  }
  if (direct === 0 && each.do === 'join')
    await chat.participants.add(people[0]!, conversation_id, { user_id: actor.user_id })
  if (direct === 0 && each.do === 'leave') await chat.participants.remove(actor, conversation_id, actor.user_id)
  if (each.do === 'seen' || each.do === 'seenUpTo') {
    const { notifications } = await chat.notifications.list(actor, { limit: 5 })
    const one = notifications[each.pick % 5]?.id
    if (one) await chat.notifications.markRead(actor, each.do === 'seen' ? { ids: [one] } : { up_to: one })
  }
  const message = messages[each.pick % messages.length]
  if (!message) return
  if (each.do === 'reply') {
    const { message_id } = await chat.messages.reply(actor, message.id, { content: 'reply', ...post })
    messages.push({ id: message_id, root: message.root })
  }
  if (each.do === 'edit') await chat.messages.edit(actor, message.id, { content: 'edited', ...named })
  if (each.do === 'delete') await chat.messages.remove(actor, message.id, {})
  if (each.do === 'restore') await chat.messages.restore(actor, message.id)
  if (each.do === 'unread') await chat.threads.markUnread(actor, message.root, { message_id: message.id })
  if (each.do === 'readAll') await chat.conversations.markRead(actor, conversation_id, { all: true })
  if (each.do === 'rootsUnread') await chat.conversations.markUnread(actor, conversation_id, { message_id: message.id })
  if (each.do === 'follow') await chat.threads.follow(actor, message.root)
  if (each.do === 'unfollow') await chat.threads.unfollow(actor, message.root)
  if (each.do === 'read') await chat.threads.markRead(actor, message.root, { message_id: message.id })
}

async function createPeople(chat: Chat): Promise<Actor[]> {
  await chat.setup.run({ email: 'p0@example.org', password: 'correct horse' })
  const { users } = await chat.users.list(OPERATOR)
  const people = [await chat.users.actor(users[0]!.id)]
  for (let n = 1; n < PEOPLE; n++) {
    const { user } = await chat.users.create(OPERATOR, { username: `p${n}`, email: `p${n}@example.org` })
    people.push(await chat.users.actor(user.id))
  }
  return people
}
