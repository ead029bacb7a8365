import { contextOf } from '../../../lib/core/context-of.ts'
import { createChatService, openStorage, parseConfig } from '../../../lib/index.ts'
import type { Queries } from '../../../lib/storage/database.ts'
import { RECOUNT_MESSAGES } from '../../../lib/storage/schema/0012-unread-totals.ts'
import { sql, statement } from '../../../lib/storage/sql.ts'
import { RECOUNT_SEEN } from '../../../lib/storage/unread-set.ts'
import { createPeople, numbers, type Person } from '../servers/people.ts'
import { urlOf } from '../servers/service.ts'

/** Their history grows with the database, as that of people who stay. */
export const CONVERSATIONS = 50

/** The messages of each thread. */
const THREAD = 100

/** The threads that the reader has not read in each conversation. */
const UNREAD_THREADS = 2

/** The messages of each conversation that are in the event log, as if the others were older than its retention. */
const LOGGED = 200

/** A reader of conversations that another user has filled, who follows each thread. */
export interface History {
  reader: Person
  author: Person
  /** Of each conversation its id, one thread for new posts, and threads to read. */
  conversations: { conversation_id: string; root_id: string; roots: string[] }[]
}

/** The size that is stored for `messages`: whole threads in each conversation. */
export function roundedSize(messages: number): number {
  return Math.max(1, Math.round(messages / CONVERSATIONS / THREAD)) * CONVERSATIONS * THREAD
}

/** Fills a new SQLite file by SQL, a few statements for each conversation. */
export async function seedHistory(file: string, messages: number): Promise<History> {
  const groups = numbers(CONVERSATIONS).map(() => [0, 1])
  const { people, places } = await createPeople(file, 2, groups)
  const [author, reader] = [people[0]!, people[1]!]
  const threads = roundedSize(messages) / CONVERSATIONS / THREAD
  const storage = await openStorage({ database: urlOf(file), durability: 'os' })
  const chat = createChatService(parseConfig({}), storage)
  try {
    await chat.start({ background: false })
    const { db } = contextOf(chat)
    for (const [n, { conversation_id }] of places.entries())
      await db.write((tx) => fill(tx, { n, conversation_id, threads, author: author.user_id, reader: reader.user_id }))
    await db.write(async (tx) => {
      for (const recount of [RECOUNT_MESSAGES, RECOUNT_SEEN]) await tx.run(recount)
    })
  } finally {
    await chat.close()
  }
  const conversations = places.map((place, n) => {
    const step = Math.ceil(threads / 20)
    return { ...place, roots: numbers(Math.ceil(threads / step)).map((k) => messageId(n, k * step, 0)) }
  })
  return { reader, author, conversations }
}

/** The same as `ID` in SQL. */
function messageId(conversation: number, thread: number, message: number): string {
  const hex = (value: number, digits: number) => value.toString(16).padStart(digits, '0')
  return `${hex(conversation, 8)}-${hex(message, 4)}-7000-8000-${hex(thread, 12)}`
}

interface Filling {
  n: number
  conversation_id: string
  threads: number
  author: string
  reader: string
}

async function fill(tx: Queries, { n, conversation_id, threads, author, reader }: Filling): Promise<void> {
  const found = await tx.get<{ clock: number; last_seq: number }>(
    sql`SELECT clock, last_seq FROM conversations WHERE id = ${conversation_id}`,
  )
  const { clock, last_seq } = found!
  const since = clock + 1
  const ID = (message: string) => `printf('%08x-%04x-7000-8000-%012x', ${n}, ${message}, t)`
  const thread = `WITH RECURSIVE threads_of(t) AS (SELECT 0 UNION ALL SELECT t + 1 FROM threads_of WHERE t < ${threads - 1})`
  const each = `${thread}, messages_of(m) AS (SELECT 0 UNION ALL SELECT m + 1 FROM messages_of WHERE m < ${THREAD - 1})`
  const at = (message: string) => `${since} + t * ${THREAD} + ${message}`
  const last = at(`${THREAD - 1}`)

  await tx.run(
    statement(
      `${thread} INSERT INTO threads
       (root_id, conversation_id, created_at, last_activity_at, message_count, participant_count, listed_to)
     SELECT ${ID('0')}, ?, ${at('0')}, ${last}, ${THREAD}, 1, ${last} FROM threads_of`,
      [conversation_id],
    ),
  )
  // A path segment is the base-36 digits of the ordinal behind their count.
  const digit = (value: string) => `substr('0123456789abcdefghijklmnopqrstuvwxyz', 1 + ${value}, 1)`
  const segment = `CASE WHEN m <= 36 THEN '1' || ${digit('m - 1')} ELSE '2' || ${digit('(m - 1) / 36')} || ${digit('(m - 1) % 36')} END`
  await tx.run(
    statement(
      `${each} INSERT INTO messages
       (id, conversation_id, root_id, parent_id, posted_by, role, content, path, depth, reply_count, status, created_at)
     SELECT ${ID('m')}, ?, ${ID('0')}, iif(m = 0, NULL, ${ID('0')}), ?, 'user',
            substr(replace(hex(zeroblob(90)), '00', 'so it goes on and on '), 1, 21 * (1 + (t * 7 + m) % 8)),
            iif(m = 0, '10', '10' || ${segment}), m > 0, iif(m = 0, ${THREAD - 1}, 0), 'complete', ${at('m')}
       FROM threads_of CROSS JOIN messages_of`,
      [conversation_id, author],
    ),
  )
  await tx.run(
    statement(
      `${thread} INSERT INTO thread_members (root_id, user_id, live_count, listed_in, listed_at)
     SELECT ${ID('0')}, ?, ${THREAD}, ?, ${last} FROM threads_of`,
      [author, conversation_id],
    ),
  )
  const ifRead = (then: string, otherwise: string) =>
    `CASE WHEN t < ${threads - UNREAD_THREADS} THEN ${then} ELSE ${otherwise} END`
  await tx.run(
    statement(
      `${thread} INSERT INTO thread_members
       (root_id, user_id, read_at, read_count, marked_in, followed_at, listed_in, listed_at, news_at)
     SELECT ${ID('0')}, ?, ${ifRead(last, '0')}, ${ifRead(`${THREAD}`, '0')}, ${ifRead('?', 'NULL')}, ${at('0')}, ?, ${last}, ${last}
       FROM threads_of`,
      [reader, conversation_id, conversation_id],
    ),
  )
  await tx.run(sql`DELETE FROM events WHERE conversation_id = ${conversation_id}`)
  const unlogged = threads * THREAD - LOGGED
  await tx.run(
    statement(
      `${each} INSERT INTO events (conversation_id, seq, type, message_id, created_at)
     SELECT ?, ${last_seq} + t * ${THREAD} + m + 1 - ${Math.max(0, unlogged)}, 'message.new', ${ID('m')}, ${at('m')}
       FROM threads_of CROSS JOIN messages_of
      WHERE t * ${THREAD} + m >= ${unlogged}
      ORDER BY t, m`,
      [conversation_id],
    ),
  )
  await tx.run(
    statement('UPDATE conversations SET clock = ?, active_at = ?, last_seq = ? WHERE id = ?', [
      since + threads * THREAD,
      since + threads * THREAD - 1,
      last_seq + Math.min(LOGGED, threads * THREAD),
      conversation_id,
    ]),
  )
}
