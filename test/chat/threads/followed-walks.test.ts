import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { listFollowedThreads } from '../../../lib/chat/unread/listing.ts'
import { type Actor, type Chat, createChatService, OPERATOR, openStorage, parseConfig } from '../../../lib/index.ts'
import type { Queries } from '../../../lib/storage/database.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { FOLLOWED_SINCE, IS_UNREAD } from '../../../lib/storage/unread-set.ts'
import { describeOnEachDatabase } from '../../support/databases.ts'
import { innerState, times } from '../../support/service.ts'
import { countAll } from '../unread/count-all.ts'

const ACTS = [
  'root',
  'reply',
  'mention',
  'edit',
  'delete',
  'restore',
  'read',
  'unread',
  'read_all',
  'follow',
  'unfollow',
  'leave',
  'outdated',
] as const

type Step = { do: (typeof ACTS)[number]; by: number; pick: number }

const step: fc.Arbitrary<Step> = fc.record({
  do: fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom('root' as const, 'mention' as const) },
    { weight: 4, arbitrary: fc.constant('reply' as const) },
    { weight: 8, arbitrary: fc.constantFrom(...ACTS.slice(3)) },
  ),
  by: fc.nat(2),
  pick: fc.nat(1000),
})

interface World {
  people: (Actor & { username: string })[]
  conversation_ids: string[]
  messages: { id: string; root_id: string }[]
}

describeOnEachDatabase('the lists of followed threads', (openUrl, dialect) => {
  it('are what messages, marks and wishes make of them, whatever happens, on two nodes', {
    timeout: 240_000,
  }, async () => {
    const database = await openUrl()
    const nodes = await Promise.all(times(2, () => startChat(database)))
    let calls = 0
    const next = () => nodes[calls++ % 2]!
    await next().setup.run({ email: 'root@example.org', password: 'correct horse' })
    let users = 0
    const createPerson = async () => {
      const username = `user${users++}`
      const node = next()
      const { user } = await node.users.create(OPERATOR, { username, email: `${username}@example.org` })
      return { ...(await node.users.actor(user.id)), username }
    }

    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40, size: 'max' }), async (steps) => {
        const people = [await createPerson(), await createPerson(), await createPerson()]
        const [ada, grace] = people as [World['people'][0], World['people'][0]]
        const { conversation_id } = await next().conversations.create(ada)
        for (const { user_id } of people.slice(1)) await next().participants.add(ada, conversation_id, { user_id })
        const direct = await next().conversations.direct(ada, { user_id: grace.user_id })
        const world: World = { people, conversation_ids: [conversation_id, direct.conversation_id], messages: [] }
        for (const each of steps) {
          await perform(next(), world, each)
          await nextTurn()
        }
        await listFollowedThreads(innerState(next()))
        await nextTurn()
        const { findings } = await next().ops.fsck()
        expect(findings).toEqual([])
        for (const person of people) await compare(next(), person)
        if (!steps.some(({ do: act }) => act === 'outdated')) return
        await countAll(innerState(next()))
        await nextTurn()
        expect(await next().ops.fsck()).toMatchObject({ findings: [] })
        for (const person of people) await compare(next(), person)
      }),
      { numRuns: dialect === 'sqlite' ? 40 : 12 },
    )
    await Promise.all(nodes.map((node) => node.close()))
  })
})

/**
 * Reads of one turn of the event loop share a state of SQLite. Nodes are processes, whose acts never meet in a turn: here one could
 * read what was before the commit of the other, which is in the same process.
 */
const nextTurn = () => setImmediate()

/** Compares the lists of a person, read page by page, with what the messages are. */
async function compare(chat: Chat, person: Actor): Promise<void> {
  const expected = await listByMessages(innerState(chat).db, person.user_id)
  const news = expected.filter(({ news }) => news === 1)
  for (const unread of [false, true]) {
    const pages: string[] = []
    for (let after: string | undefined, isFirst = true; isFirst || after; isFirst = false) {
      const page = await chat.threads.listFollowed(person, { unread, limit: 2, ...(after && { after }) })
      pages.push(...page.threads.map(({ root_id }) => root_id))
      expect(page.unread).toBe(news.length)
      after = page.next_after
    }
    expect(pages).toEqual((unread ? news : expected).map(({ root_id }) => root_id))
  }
}

/** The threads that a user follows, and whether they have news, without what is stored for the list. */
function listByMessages(db: Queries, userId: string) {
  const replies = sql`messages m WHERE m.root_id = t.root_id AND m.parent_id IS NOT NULL AND m.deleted_at IS NULL`
  return db.all<{ root_id: string; news: number }>(
    sql`SELECT t.root_id, CASE WHEN EXISTS (
            SELECT 1 FROM ${replies} AND ${IS_UNREAD} AND m.created_at >= ${FOLLOWED_SINCE}) THEN 1 ELSE 0 END AS news
       FROM participants p JOIN threads t ON t.conversation_id = p.conversation_id
       LEFT JOIN thread_members r ON r.root_id = t.root_id AND r.user_id = p.user_id
      WHERE p.user_id = ${userId} AND ${FOLLOWED_SINCE} IS NOT NULL AND EXISTS (SELECT 1 FROM ${replies})
      ORDER BY t.last_activity_at DESC`,
  )
}

/** Does a step, if it is possible. */
async function perform(chat: Chat, world: World, { do: act, by, pick }: Step): Promise<void> {
  const { people, conversation_ids, messages } = world
  const actor = people[by]!
  const { username } = people[pick % people.length]!
  const [conversation_id] = conversation_ids as [string]
  const add = ({ message_id: id, root_id }: { message_id: string; root_id: string }) => messages.push({ id, root_id })
  const refused = (call: Promise<unknown>) =>
    call.catch(({ code }) =>
      expect(['not_found', 'forbidden', 'message_deleted', 'message_not_deleted', 'conflict']).toContain(code),
    )
  if (act === 'root') {
    const place = conversation_ids[pick % 2]!
    await refused(chat.messages.postRoot(actor, place, { content: 'root' }).then(add))
  }
  const message = messages[pick % messages.length]
  if (message === undefined) return
  const { id, root_id } = message
  const post = (content: string) => refused(chat.messages.reply(actor, id, { content }).then(add))
  switch (act) {
    case 'reply':
      return void (await post('reply'))
    case 'mention':
      return void (await post(`@${username} look`))
    case 'edit':
      return void (await refused(chat.messages.edit(actor, id, { content: `@${username} look` })))
    case 'delete':
      return void (await refused(chat.messages.remove(actor, id)))
    case 'restore':
      return void (await refused(chat.messages.restore(actor, id)))
    case 'read':
      return void (await refused(chat.threads.markRead(actor, root_id, { message_id: id })))
    case 'unread':
      return void (await refused(chat.threads.markUnread(actor, root_id, { message_id: id })))
    case 'read_all': {
      const place = conversation_ids[pick % 2]!
      return void (await refused(chat.conversations.markRead(actor, place, { all: true })))
    }
    case 'follow':
      return void (await refused(chat.threads.follow(actor, root_id)))
    case 'unfollow':
      return void (await refused(chat.threads.unfollow(actor, root_id)))
    case 'leave':
      if (by === 0) return
      await refused(chat.participants.remove(actor, conversation_id, actor.user_id))
      await chat.participants.add(people[0]!, conversation_id, { user_id: actor.user_id })
      return
    case 'outdated':
      // As a process stores a reply that knows neither such lists nor such numbers: at once, as the services list in between.
      await innerState(chat).db.write(async (tx) => {
        await tx.run(
          sql`UPDATE conversations SET counted_seq = counted_seq - 1
            WHERE id = (SELECT conversation_id FROM threads WHERE root_id = ${root_id})`,
        )
        await tx.run(sql`UPDATE threads SET listed_to = 0 WHERE root_id = ${root_id}`)
        await tx.run(
          sql`UPDATE thread_members SET listed_at = NULL, listed_in = NULL, news_at = NULL WHERE root_id = ${root_id}`,
        )
      })
  }
}

async function startChat(database: string): Promise<Chat> {
  const config = parseConfig({ security: { password: { bcrypt_cost: 4 } } })
  const chat = createChatService(config, await openStorage({ database, strict: true }))
  await chat.start()
  return chat
}
