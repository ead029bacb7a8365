import { setTimeout as delay } from 'node:timers/promises'
import { childPath, ROOT_PATH } from '../../../lib/chat/messages/rules.ts'
import { contextOf } from '../../../lib/core/context-of.ts'
import { newId } from '../../../lib/core/ids.ts'
import { OPERATOR } from '../../../lib/index.ts'
import type { Database } from '../../../lib/storage/database.ts'
import { onRows } from '../../../lib/storage/on-rows.ts'
import { RECOUNT_MESSAGES } from '../../../lib/storage/schema/0012-unread-totals.ts'
import { literal, sql } from '../../../lib/storage/sql.ts'
import { RECOUNT_SEEN } from '../../../lib/storage/unread-set.ts'
import { createPeople, numbers, withChat } from '../servers/people.ts'
import { startBareService } from '../servers/service.ts'

const CONVERSATIONS = 500
const PEOPLE = 50

/** The participants of each conversation, who write in turns. */
const PARTICIPANTS = 3

/** The messages of each thread: the root, its replies, and replies to these in turns. */
const THREAD = 100
const BRANCHES = 10

const TEXT = 'So it goes on and on, as people write when they have a little more to say than yes or no. '

const LOOK_MS = 100

const THREADS = onRows(
  { root_id: 'text', conversation_id: 'text', created_at: 'bigint', last_activity_at: 'bigint' } as const,
  (given) =>
    sql`INSERT INTO threads (root_id, conversation_id, created_at, last_activity_at, message_count, participant_count)
     SELECT root_id, conversation_id, created_at, last_activity_at, ${literal(THREAD)}, ${literal(PARTICIPANTS)} FROM ${given}`,
)
const MEMBERS = onRows(
  { root_id: 'text', conversation_id: 'text', user_id: 'text', live_count: 'bigint', read_at: 'bigint' } as const,
  (given) =>
    sql`INSERT INTO thread_members (root_id, user_id, live_count, read_at, read_count, marked_in)
     SELECT root_id, user_id, live_count, read_at, CASE WHEN read_at > 0 THEN ${literal(THREAD)} - live_count ELSE 0 END,
            CASE WHEN read_at > 0 THEN conversation_id END
       FROM ${given}`,
)
const MESSAGES = onRows(
  {
    id: 'text',
    conversation_id: 'text',
    root_id: 'text',
    parent_id: 'text',
    posted_by: 'text',
    content: 'text',
    path: 'text',
    depth: 'bigint',
    reply_count: 'bigint',
    created_at: 'bigint',
  } as const,
  (given) =>
    sql`INSERT INTO messages (id, conversation_id, root_id, parent_id, posted_by, role, content, path, depth, reply_count, status, created_at)
     SELECT id, conversation_id, root_id, parent_id, posted_by, 'user', content, path, depth, reply_count, 'complete', created_at FROM ${given}`,
)
const EVENTS = onRows(
  { conversation_id: 'text', seq: 'bigint', type: 'text', message_id: 'text', created_at: 'bigint' } as const,
  (given) =>
    sql`INSERT INTO events (conversation_id, seq, type, message_id, created_at)
     SELECT conversation_id, seq, type, message_id, created_at FROM ${given}`,
)
const ENDS = onRows(
  { id: 'text', clock: 'bigint', last_seq: 'bigint' } as const,
  (given) =>
    sql`UPDATE conversations SET clock = given.clock, active_at = given.clock, last_seq = given.last_seq
       FROM ${given} WHERE conversations.id = given.id`,
)

/** A conversation that is being filled. */
interface Filling {
  id: string
  authors: string[]
  clock: number
  last_seq: number
}

/**
 * Fills a new database as it is after a busy day: with so many messages, each with its events, in the order of time
 * across conversations, and all in the search index.
 */
export async function seedChecked(command: string[], database: string, messages: number): Promise<void> {
  const groups = numbers(CONVERSATIONS).map((n) => numbers(PARTICIPANTS).map((k) => (n + k * 7) % PEOPLE))
  const { people, places } = await createPeople(database, PEOPLE, groups)
  await withChat(database, async (chat) => {
    const { db } = contextOf(chat)
    const ends = await db.all<Omit<Filling, 'authors'>>(sql`SELECT id, clock, last_seq FROM conversations`)
    const authors = new Map(
      places.map(({ conversation_id }, n) => [conversation_id, groups[n]!.map((k) => people[k]!.user_id)]),
    )
    let fillings = ends.map((end) => ({ ...end, authors: authors.get(end.id)! }))
    const threads = Math.max(1, Math.round(messages / CONVERSATIONS / THREAD))
    for (let n = 0; n < threads; n++) fillings = await addThreads(db, fillings)
    await db.write(async (tx) => {
      await ENDS.run(
        tx,
        fillings.map(({ id, clock, last_seq }) => ({ id, clock, last_seq })),
      )
      for (const recount of [RECOUNT_MESSAGES, RECOUNT_SEEN]) await tx.run(recount)
    })
    await chat.search.rebuild(OPERATOR, { from_scratch: true })
  })
  await fillIndex(command, database)
}

/** Adds a thread to each conversation, whose messages arrive in turns. @returns the conversations as they are then */
async function addThreads(db: Database, fillings: Filling[]): Promise<Filling[]> {
  const threads = fillings.map((filling) => ({ ...filling, ids: numbers(THREAD).map(newId) }))
  await db.write(async (tx) => {
    await THREADS.run(
      tx,
      threads.map(({ id, clock, ids }) => ({
        root_id: ids[0]!,
        conversation_id: id,
        created_at: clock + 1,
        last_activity_at: clock + THREAD,
      })),
    )
    await MEMBERS.run(
      tx,
      threads.flatMap(({ id, authors, clock, ids }) =>
        authors.map((user_id, n) => ({
          root_id: ids[0]!,
          conversation_id: id,
          user_id,
          live_count: numbers(THREAD).filter((m) => m % PARTICIPANTS === n).length,
          // One of them has read everything.
          read_at: n === 0 ? clock + THREAD : 0,
        })),
      ),
    )
  })
  for (let m = 0; m < THREAD; m++)
    await db.write(async (tx) => {
      await MESSAGES.run(
        tx,
        threads.map((thread) => messageOf(thread, m)),
      )
      await EVENTS.run(
        tx,
        threads.flatMap(({ id, ids, clock, last_seq }) => {
          const event = { conversation_id: id, message_id: ids[m]!, created_at: clock + 1 + m }
          const posted = { ...event, seq: last_seq + 2 + m, type: 'message.new' }
          return m === 0 ? [{ ...event, seq: last_seq + 1, type: 'thread.new' }, posted] : [posted]
        }),
      )
    })
  return fillings.map((each) => ({ ...each, clock: each.clock + THREAD, last_seq: each.last_seq + THREAD + 1 }))
}

function messageOf({ id, authors, clock, ids }: Filling & { ids: string[] }, m: number) {
  const branch = (m - 1) % BRANCHES
  const branchPath = childPath(ROOT_PATH, branch)
  const depth = m === 0 ? 0 : m <= BRANCHES ? 1 : 2
  const replies = numbers(THREAD).filter((k) => k > BRANCHES && (k - 1) % BRANCHES === branch).length
  return {
    id: ids[m]!,
    conversation_id: id,
    root_id: ids[0]!,
    parent_id: [null, ids[0]!, ids[1 + branch]!][depth]!,
    posted_by: authors[m % PARTICIPANTS]!,
    content: TEXT.repeat(1 + (m % 4)),
    path: [ROOT_PATH, branchPath, childPath(branchPath, Math.floor((m - 1) / BRANCHES) - 1)][depth]!,
    depth,
    reply_count: [BRANCHES, replies, 0][depth]!,
    created_at: clock + 1 + m,
  }
}

/** Starts the service until all messages are in the index. */
async function fillIndex(command: string[], database: string): Promise<void> {
  const server = await startBareService(command, database)
  try {
    await withChat(database, async (chat) => {
      for (;;) {
        const { filling, waiting } = await chat.search.status(OPERATOR)
        if (!filling && waiting === 0) return
        await delay(LOOK_MS)
      }
    })
  } finally {
    await server.stop()
  }
}
