import { contextOf } from '../../../lib/core/context-of.ts'
import type { Row as Columns } from '../../../lib/storage/database.ts'
import { assignments, sql } from '../../../lib/storage/sql.ts'
import { type Filling, settle } from '../filled/conversation.ts'
import { interleaveWarm, median, type Row } from '../row.ts'
import { addFilled, libraryRows, type MeasuredRoom } from './library.ts'
import { messagesOf } from './reads.ts'

const shown = <Name extends string>(name: Name, threads: string) =>
  ({
    name,
    title: `a conversation of ${threads} unread threads is marked as read`,
    peer: 'one of a single thread',
    unit: 'ms',
    better: 'lower',
    reach: 4,
    beyond: 2,
  }) as const

/** Marking a whole conversation as read writes no row for each thread. The reader follows all of them. */
export const readAll: Row[] = libraryRows(
  [shown('read-all-1000', '1,000'), shown('read-all-100000', '100,000')],
  async (room) => {
    const { chat, reader, bench } = room
    const followers = [reader.user_id]
    const one = await addFilled(room, 1, { threads: 1, replies: 1, followers })
    const some = await addFilled(room, 2, { threads: 1_000, replies: 1, followers })
    const many = await addFilled(room, 3, { threads: messagesOf(bench) / 10, replies: 1, followers })
    await settle(contextOf(chat).db)
    const [ofOne, ofSome, ofMany] = await Promise.all([one, some, many].map((filling) => markAgain(room, filling)))
    const against = (mark: () => Promise<number>) => interleaveWarm(bench.rounds, mark, ofOne!)
    return { 'read-all-1000': await against(ofSome!), 'read-all-100000': await against(ofMany!) }
  },
)

/** @returns what marks the conversation, which is unread again each time, for a round, and returns the median */
async function markAgain({ chat, reader, bench }: MeasuredRoom, { conversation_id, threads }: Filling) {
  const { db } = contextOf(chat)
  const whose = sql`conversation_id = ${conversation_id} AND user_id = ${reader.user_id}`
  const unread = (await db.get<Columns>(
    sql`SELECT replies_read_to, replies_read_at, roots_read_to, roots_read_at, seen_count, seen_roots, seen_replies,
            followed_unread, followed_threads
       FROM participants WHERE ${whose}`,
  ))!
  return async () => {
    const times: number[] = []
    for (const end = performance.now() + bench.seconds * 1000; performance.now() < end; ) {
      await db.write((tx) => tx.run(sql`UPDATE participants SET ${assignments(unread)} WHERE ${whose}`))
      const before = await chat.threads.unread(reader, conversation_id, { limit: 1 })
      if (before.total !== threads * 2) throw new Error(`${before.total} messages were unread`)
      const began = performance.now()
      await chat.conversations.markRead(reader, conversation_id, { all: true })
      times.push(performance.now() - began)
    }
    const { total } = await chat.threads.unread(reader, conversation_id)
    if (total !== 0) throw new Error(`${total} messages stayed unread`)
    return median(times)
  }
}
