import { contextOf } from '../../../lib/core/context-of.ts'
import { sql, statement } from '../../../lib/storage/sql.ts'
import type { Row } from '../row.ts'
import { inRoom, medianMs, type Room } from './reads.ts'

const CONVERSATIONS = 50
const THREADS = 1_000

/** What an app asks for when it opens: it costs the same however long the history is. */
export const conversations: Row = {
  name: 'conversations',
  title: `the list of ${CONVERSATIONS} conversations of ${THREADS.toLocaleString('en-US')} unread threads`,
  unit: 'ms',
  better: 'lower',
  reach: 5,
  beyond: 2,
  measure: (bench) =>
    inRoom(async (room) => {
      for (let n = 0; n < CONVERSATIONS; n++) await addConversation(room)
      const read = () =>
        medianMs(bench, async () => {
          const page = await room.chat.conversations.list(room.reader, { limit: CONVERSATIONS })
          const wrong = page.conversations.find(({ unread }) => unread !== THREADS)
          if (page.conversations.length !== CONVERSATIONS || wrong) throw new Error('the list is wrong')
        })
      await read()
      const rounds = []
      for (let round = 0; round < bench.rounds; round++) rounds.push({ service: await read() })
      return rounds
    }),
}

/** A conversation whose reader has been there since its beginning and has read nothing. */
async function addConversation({ chat, author, reader }: Room): Promise<void> {
  const { conversation_id } = await chat.conversations.create(author, { title: 'Bench' })
  await chat.participants.add(author, conversation_id, { user_id: reader.user_id })
  await contextOf(chat).db.write(async (tx) => {
    const { clock } = (await tx.get<{ clock: number }>(
      sql`SELECT clock FROM conversations WHERE id = ${conversation_id}`,
    ))!
    const numbers = `WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${THREADS})`
    await tx.run(
      statement(
        `${numbers} INSERT INTO threads
         (root_id, conversation_id, created_at, last_activity_at, message_count, participant_count)
       SELECT ? || '/' || n, ?, ? + n, ? + n, 1, 1 FROM numbers`,
        [conversation_id, conversation_id, clock, clock],
      ),
    )
    await tx.run(
      statement(
        `${numbers} INSERT INTO messages
         (id, conversation_id, root_id, posted_by, role, content, path, depth, status, created_at)
       SELECT ? || '/' || n, ?, ? || '/' || n, ?, 'user', 'Bench', '10', 0, 'complete', ? + n FROM numbers`,
        [conversation_id, conversation_id, conversation_id, author.user_id, clock],
      ),
    )
    await tx.run(
      statement(
        `${numbers} INSERT INTO thread_members (root_id, user_id, live_count) SELECT ? || '/' || n, ?, 1 FROM numbers`,
        [conversation_id, author.user_id],
      ),
    )
    await tx.run(
      statement('UPDATE conversations SET clock = clock + ?, message_count = ? WHERE id = ?', [
        THREADS,
        THREADS,
        conversation_id,
      ]),
    )
  })
}
