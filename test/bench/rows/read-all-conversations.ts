import { contextOf } from '../../../lib/core/context-of.ts'
import type { Row as Columns } from '../../../lib/storage/database.ts'
import { assignments, literal, sql } from '../../../lib/storage/sql.ts'
import { settle } from '../filled/conversation.ts'
import { median, type Round, type Row } from '../row.ts'
import { libraryRows, type MeasuredRoom } from './library.ts'
import { inBatches, messagesOf } from './reads.ts'

const NAME = 'read-all-conversations'

/** All conversations of a user are marked as read, each with an unread message. */
export const readAllConversations: Row[] = libraryRows(
  [
    {
      name: NAME,
      title: '10,000 conversations, each with an unread message, are marked as read at once',
      unit: 'ms',
      better: 'lower',
      reach: 200,
      beyond: 100,
    },
  ],
  async (room) => {
    const count = messagesOf(room.bench) / 100
    await fillConversations(room, count)
    await settle(contextOf(room.chat).db)
    return { [NAME]: await markAgain(room, count) }
  },
)

/** Stores conversations of the author and the reader, with one message each. */
async function fillConversations({ chat, author, reader }: MeasuredRoom, count: number): Promise<void> {
  const { db } = contextOf(chat)
  const ids = await inBatches(
    Array.from({ length: count }, (_, n) => n),
    async (n) => {
      const { conversation_id } = await chat.conversations.create(author, { title: `Filled ${n}` })
      await chat.participants.add(author, conversation_id, { user_id: reader.user_id })
      return conversation_id
    },
  )
  const since = (Date.now() + 1_000) * 1_000
  // A conversation has one message, whose id may be its own.
  const filled = sql`FROM conversations WHERE title LIKE 'Filled %'`
  await db.write(
    async (tx) => {
      await tx.run(
        sql`INSERT INTO threads (root_id, conversation_id, created_at, last_activity_at, message_count, participant_count,
              listed_to) SELECT id, id, ${literal(since)}, ${literal(since)}, 1, 1, ${literal(since)} ${filled}`,
      )
      await tx.run(
        sql`INSERT INTO messages (id, conversation_id, root_id, posted_by, role, content, path, depth, reply_count, status,
              created_at)
            SELECT id, id, id, ${author.user_id}, 'user', 'so it goes on', '10', 0, 0, 'complete', ${literal(since)} ${filled}`,
      )
      await tx.run(
        sql`INSERT INTO thread_members (root_id, user_id, live_count) SELECT id, ${author.user_id}, 1 ${filled}`,
      )
      await tx.run(sql`UPDATE conversations SET clock = ${since + 1}, active_at = ${since} WHERE title LIKE 'Filled %'`)
    },
    { timeout: false },
  )
  if (ids.length !== count) throw new Error('conversations are missing')
}

/** The median of each round, after one that is not counted: they are unread again each time. */
async function markAgain({ chat, reader, bench }: MeasuredRoom, count: number): Promise<Round[]> {
  const { db } = contextOf(chat)
  const own = sql`user_id = ${reader.user_id} AND conversation_id IN (SELECT id FROM conversations WHERE message_count > 0)`
  const unread = (await db.get<Columns>(
    sql`SELECT replies_read_to, replies_read_at, roots_read_to, roots_read_at, seen_count, seen_roots, seen_replies,
            followed_unread, followed_threads
       FROM participants WHERE ${own} LIMIT 1`,
  ))!
  const isUnread = sql`SELECT count(*) AS count FROM participants p JOIN conversations c ON c.id = p.conversation_id
      WHERE p.user_id = ${reader.user_id} AND c.message_count > p.seen_count`
  const expect = async (expected: number) => {
    const { count } = (await db.get<{ count: number }>(isUnread))!
    if (Number(count) !== expected) throw new Error(`${count} conversations were unread`)
  }
  const rounds: Round[] = []
  for (let round = -1; round < bench.rounds; round++) {
    const times: number[] = []
    for (const end = performance.now() + bench.seconds * 1000; performance.now() < end; ) {
      await db.write((tx) => tx.run(sql`UPDATE participants SET ${assignments(unread)} WHERE ${own}`))
      await expect(count)
      const began = performance.now()
      await chat.conversations.markAllRead(reader, {})
      times.push(performance.now() - began)
      await expect(0)
    }
    if (round >= 0) rounds.push({ service: median(times) })
  }
  return rounds
}
