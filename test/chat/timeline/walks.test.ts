import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Actor, type Chat, createChatService, OPERATOR, openStorage, parseConfig } from '../../../lib/index.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { innerState, times } from '../../support/service.ts'

/** The author among three that is erased at some time. The first one owns the conversations. */
const ERASED = 2

/** A message of the model, in the order of arrival. */
interface Sent {
  id: string
  root: string
  author: number
}

type Step = { do: 'root' | 'reply' | 'delete' | 'restore' | 'erase' | 'read'; by: number; pick: number }

const step: fc.Arbitrary<Step> = fc.record({
  do: fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom('root' as const, 'reply' as const, 'delete' as const, 'restore' as const) },
    { weight: 1, arbitrary: fc.constantFrom('erase' as const, 'read' as const) },
  ),
  by: fc.nat(2),
  pick: fc.nat(1000),
})

const walk = fc.record({
  view: fc.constantFrom('roots' as const, 'all' as const, 'thread' as const),
  limit: fc.integer({ min: 1, max: 4 }),
  place: fc.nat(1000),
  kind: fc.constantFrom('newest' as const, 'before' as const, 'after' as const, 'around' as const, 'unread' as const),
  /** What happens between two pages. */
  between: fc.array(step, { maxLength: 12 }),
})

interface Page {
  messages: { id: string; created_at: string }[]
  next_before?: string
  next_after?: string
}

describeOnEachDatabase('walks through messages by arrival', (openUrl, dialect) => {
  it('meet without a gap or a repeat, whatever happens meanwhile, on two nodes', { timeout: 240_000 }, async () => {
    const database = await openUrl()
    const nodes = await Promise.all(times(2, () => startChat(database)))
    let calls = 0
    const next = () => nodes[calls++ % 2]!
    await next().setup.run({ email: 'root@example.org', password: 'correct horse' })
    const [ada, grace] = [await createUser(next(), 'ada'), await createUser(next(), 'grace')]
    let users = 0

    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 25, size: 'max' }), walk, async (steps, how) => {
        const people = [ada, grace, await createUser(next(), `user${users++}`)]
        const { conversation_id } = await next().conversations.create(ada)
        for (const { user_id } of people.slice(1)) await next().participants.add(ada, conversation_id, { user_id })
        const world: World = { people, conversation_id, sent: [], isErased: false }
        await perform(next(), world, { do: 'root', by: 0, pick: 0 })
        for (const each of steps) await perform(next(), world, each)

        const root = world.sent[how.place % world.sent.length]!.root
        const list = world.sent.filter((message) => isListed(message, how.view, root)).map(({ id }) => id)
        const read = (place: object): Promise<Page> =>
          how.view === 'thread'
            ? next().threads.messages(ada, root, { ...place, limit: how.limit })
            : next().messages.list(ada, conversation_id, { view: how.view, ...place, limit: how.limit })
        const at = list[how.place % list.length]
        const place =
          how.kind === 'unread' ? { around: 'unread' } : at && how.kind !== 'newest' ? { [how.kind]: at } : {}
        const first = await read(place)

        const queue = [...how.between]
        const pages = [first.messages]
        for (let [older, newer] = [first.next_before, first.next_after]; older !== undefined || newer !== undefined; ) {
          const happens = queue.shift()
          if (happens) await perform(next(), world, happens)
          if (older !== undefined) {
            const page = await read({ before: older })
            pages.unshift(page.messages)
            older = page.next_before
          }
          if (newer !== undefined) {
            const page = await read({ after: newer })
            pages.push(page.messages)
            newer = page.next_after
          }
        }
        const ids = pages.flat().map(({ id }) => id)
        expect(new Set(ids).size).toBe(ids.length)
        // What was posted meanwhile comes after them, or on no page.
        expect(ids.slice(0, list.length)).toEqual(list)
        const arrivals = pages.flat().map(({ created_at }) => created_at)
        expect(arrivals).toEqual([...arrivals].sort())

        const { messages } = await next().messages.list(ada, conversation_id, { view: 'all', limit: 200 })
        for (const { id, thread } of messages) {
          if (!thread) continue
          const live = messages.filter((message) => message.root_id === id && message.id !== id && !message.deleted_at)
          const authors = live.toReversed().flatMap(({ author_user_id }) => author_user_id ?? [])
          const { following, unread_replies, ...state } = thread
          expect({ following: typeof following, unread_replies }).toEqual({
            following: 'boolean',
            unread_replies: live.filter(({ unread }) => unread).length,
          })
          expect(state).toEqual({
            reply_count: live.length,
            ...(live.length > 0 && { last_reply_at: live.at(-1)!.created_at }),
            last_replier_ids: [...new Set(authors)].slice(0, 3),
          })
        }
      }),
      { numRuns: dialect === 'sqlite' ? 30 : 10 },
    )
    await Promise.all(nodes.map((node) => node.close()))
  })
})

interface World {
  people: Actor[]
  conversation_id: string
  sent: Sent[]
  isErased: boolean
}

function isListed({ id, root }: Sent, view: 'roots' | 'all' | 'thread', of: string): boolean {
  if (view === 'thread') return root === of && id !== of
  return view === 'all' || id === root
}

/** Does a step, if it is possible. */
async function perform(chat: Chat, world: World, { do: act, by, pick }: Step): Promise<void> {
  const { people, conversation_id, sent } = world
  if (world.isErased && by === ERASED) return
  const actor = people[by]!
  const message = sent[pick % sent.length]
  const add = ({ message_id: id, root_id: root }: { message_id: string; root_id: string }) =>
    sent.push({ id, root, author: by })
  const refused = (call: Promise<unknown>) =>
    call.catch(({ code }) =>
      expect(['forbidden', 'message_deleted', 'message_not_deleted', 'conflict']).toContain(code),
    )
  if (act === 'root') add(await chat.messages.postRoot(actor, conversation_id, { content: 'root' }))
  if (message === undefined) return
  if (act === 'reply')
    await refused(chat.messages.reply(actor, message.id, { content: 'reply' }).then((posted) => void add(posted)))
  if (act === 'delete') await refused(chat.messages.remove(actor, message.id))
  if (act === 'restore') await refused(chat.messages.restore(actor, message.id))
  if (act === 'read') await chat.threads.markRead(actor, message.root)
  if (act === 'erase' && !world.isErased) {
    world.isErased = true
    await chat.users.erase(OPERATOR, people[ERASED]!.user_id, { messages: pick % 2 === 0 ? 'erase' : 'keep' })
    if (pick % 3 > 0) await innerState(chat).tasks.settle()
  }
}

async function startChat(database: string): Promise<Chat> {
  const config = parseConfig({ security: { password: { bcrypt_cost: 4 } } })
  const chat = createChatService(config, await openStorage({ database, strict: true }))
  await chat.start()
  return chat
}

async function createUser(chat: Chat, name: string): Promise<Actor> {
  const { user } = await chat.users.create(OPERATOR, { username: name, email: `${name}@example.org` })
  return chat.users.actor(user.id)
}
