import fc from 'fast-check'
import { expect, it } from 'vitest'
import { emojiKey } from '../../../lib/core/emoji.ts'
import {
  type Actor,
  type Chat,
  ChatError,
  createChatService,
  OPERATOR,
  openStorage,
  parseConfig,
} from '../../../lib/index.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'

type Reactions = NonNullable<Awaited<ReturnType<Chat['messages']['get']>>['reactions']>

const CONFIG = { security: { password: { bcrypt_cost: 4 } } }

/** More than a message names for an emoji. */
const PEOPLE = 12
const EMOJI = ['❤', '❤\uFE0F', '👍', '👍🏽', ':tada:']

const step = fc.record({
  do: fc.constantFrom('add', 'add', 'add', 'add', 'remove', 'remove', 'clear', 'delete', 'restore'),
  by: fc.nat(PEOPLE - 1),
  message: fc.nat(1),
  emoji: fc.constantFrom(...EMOJI),
})
type Step = typeof step extends fc.Arbitrary<infer Each> ? Each : never

describeOnEachDatabase('the counts of reactions', (openUrl, dialect) => {
  it('never differ from the list, nor from what the events say, whatever happens', { timeout: 120_000 }, async () => {
    const chat = createChatService(parseConfig(CONFIG), await openStorage({ database: await openUrl(), strict: true }))
    await chat.start()
    const people = await createPeople(chat)
    const { conversation_id } = await chat.conversations.create(people[0]!)
    for (const { user_id } of people.slice(1)) await chat.participants.add(people[0]!, conversation_id, { user_id })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), async (steps) => {
        const { stream_position } = await chat.conversations.get(people[0]!, conversation_id)
        const ids: string[] = []
        for (const content of ['one', 'two'])
          ids.push((await chat.messages.postRoot(people[0]!, conversation_id, { content })).message_id)
        for (const each of steps) {
          const id = ids[each.message]!
          // What is refused changes nothing.
          await apply(chat, people, id, each).catch((error) => {
            if (!(error instanceof ChatError)) throw error
          })
          await expectExact(chat, people[each.by]!, id)
        }
        for (const id of ids) for (const reader of people) await expectExact(chat, reader, id)
        const told = await fold(chat, people[0]!, conversation_id, stream_position!)
        for (const id of ids) {
          const { reactions = [] } = await chat.messages.get(people[0]!, id)
          expect(told.get(id) ?? []).toEqual(reactions)
        }
      }),
      { numRuns: dialect === 'sqlite' ? 30 : 6 },
    )
    expect((await chat.ops.fsck()).findings).toEqual([])
    await chat.close()
  })
})

async function apply(chat: Chat, people: Actor[], id: string, { do: what, by, emoji }: Step): Promise<void> {
  const actor = people[by]!
  if (what === 'add') await chat.reactions.add(actor, id, emoji)
  if (what === 'remove') await chat.reactions.remove(actor, id, emoji)
  if (what === 'clear') await chat.reactions.clear(people[0]!, id, emoji)
  if (what === 'delete') await chat.messages.remove(people[0]!, id, {})
  if (what === 'restore') await chat.messages.restore(people[0]!, id)
}

/** Compares the reactions of a message with the list of all, one by one. */
async function expectExact(chat: Chat, reader: Actor, id: string): Promise<void> {
  const { reactions = [], reacted = [], deleted_at } = await chat.messages.get(reader, id)
  if (deleted_at) return expect([reactions, reacted]).toEqual([[], []])
  const { reactions: each } = await chat.reactions.list(reader, id, { limit: 200 })
  const kinds = new Map<string, { emoji: string; users: string[] }>()
  for (const { emoji, user_id } of each) {
    const kind = kinds.get(emojiKey(emoji)) ?? { emoji, users: [] }
    kinds.set(emojiKey(emoji), { ...kind, users: [...kind.users, user_id] })
  }
  const counted = [...kinds.values()].map(({ emoji, users }) => {
    return { emoji, count: users.length, user_ids: users.slice(0, 10) }
  })
  expect(reactions).toEqual(counted)
  const own = each.filter(({ user_id }) => user_id === reader.user_id).map(({ emoji }) => emoji)
  expect(new Set(reacted)).toEqual(new Set(own))
}

/** The reactions of each message as a client knows them from the events after a position. */
async function fold(
  chat: Chat,
  reader: Actor,
  conversation_id: string,
  start: string,
): Promise<Map<string, Reactions>> {
  const told = new Map<string, Reactions>()
  const { stream_position: end } = await chat.conversations.get(reader, conversation_id)
  for await (const { id, event } of chat.events.follow(reader, conversation_id, { last_event_id: start })) {
    if (event.type === 'reactions.changed') told.set(event.payload.message_id, event.payload.reactions)
    else if ('payload' in event && 'message' in event.payload && typeof event.payload.message === 'object')
      told.set(event.payload.message.id, event.payload.message.reactions ?? [])
    if (id === end) break
  }
  return told
}

async function createPeople(chat: Chat): Promise<Actor[]> {
  const { user } = await chat.setup.run({ email: 'p0@example.org', password: 'correct horse' })
  const people = [await chat.users.actor(user.id)]
  for (let n = 1; n < PEOPLE; n++) {
    const { user } = await chat.users.create(OPERATOR, { username: `p${n}`, email: `p${n}@example.org` })
    people.push(await chat.users.actor(user.id))
  }
  return people
}
