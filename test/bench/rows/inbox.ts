import { contextOf } from '../../../lib/core/context-of.ts'
import type { Chat } from '../../../lib/index.ts'
import { sql, statement } from '../../../lib/storage/sql.ts'
import { httpRequest } from '../load/http.ts'
import { p99, timeRequest } from '../load/latency.ts'
import { progress } from '../report.ts'
import type { Row } from '../row.ts'
import { onEachDatabase } from '../servers/each-database.ts'
import { addReplies, createPeople, numbers, type Person, type Place, withChat } from '../servers/people.ts'

/** The notifications of all users, and of each of them. */
const STORED = 1_000_000
const OWN = 10_000

/** The conversations that they are about. */
const PLACES = 20

/** The number of all for short rounds (`--quick`). */
const QUICK_STORED = 100_000
const QUICK_SECONDS = 1

const PAGE = 50

/** Every how many pages one is measured. */
const STEP = 10

/** The pages of a round. */
const LEAST = 100

/** None of them was ever read. */
export const inbox = onEachDatabase(async (database, { rounds, seconds }) => {
  const stored = seconds > QUICK_SECONDS ? STORED : QUICK_STORED
  if (stored < STORED) progress(`  with ${stored.toLocaleString('en-US')} notifications only`)
  const count = stored / OWN + 1
  const { people, places } = await createPeople(database, count, Array(PLACES).fill(numbers(count)))
  const [author, reader] = people as [Person, Person]
  for (const place of places) await addReplies(database, author, place, OWN / PLACES)
  const pages = await withChat(database, async (chat) => {
    for (const place of places) await notifyAll(chat, place)
    // As PostgreSQL itself does after a while.
    const { db } = contextOf(chat)
    if (db.dialect === 'postgresql') await db.run(sql`ANALYZE`)
    return listPages(chat, reader)
  })
  return async ({ port }) => {
    const request = pages.map((path) => httpRequest('GET', path, reader))
    await timeRequest({ port, request }, seconds)
    const measured: number[] = []
    for (let round = 0; round < rounds; round++) {
      const times: number[] = []
      while (times.length < LEAST) times.push(...(await timeRequest({ port, request }, seconds)))
      measured.push(p99(times))
    }
    return measured.map((service) => ({ service }))
  }
}).map(({ suffix, on, ...measured }): Row => {
  return {
    name: `inbox${suffix}`,
    title: `99th percentile of a page of ${PAGE} of ${OWN.toLocaleString('en-US')} notifications, ${STORED.toLocaleString('en-US')} stored${on}`,
    unit: 'ms',
    better: 'lower',
    reach: 5,
    beyond: 2,
    ...measured,
  }
})

/** Stores a notification of every reply for every participant, as if each had been to all. */
function notifyAll(chat: Chat, { conversation_id, root_id }: Place): Promise<void> {
  return contextOf(chat).write(async (tx) => {
    const replies = 'm.root_id = ? AND m.parent_id IS NOT NULL'
    await tx.run(statement(`UPDATE messages AS m SET mention_all = 1 WHERE ${replies}`, [root_id]))
    await tx.run(
      statement(
        `INSERT INTO notifications (user_id, id, kind, at)
       SELECT p.user_id, m.id, 'mention_all', m.created_at
         FROM messages m JOIN participants p ON p.conversation_id = m.conversation_id AND p.user_id <> m.posted_by
        WHERE ${replies}`,
        [root_id],
      ),
    )
    await tx.run(
      statement(
        `UPDATE participants SET unread_mentions = (SELECT count(*) FROM messages m WHERE ${replies})
        WHERE conversation_id = ? AND role <> 'owner'`,
        [root_id, conversation_id],
      ),
    )
  })
}

/** The paths of the first page of a user's inbox, and of some of the others. */
async function listPages(chat: Chat, { user_id }: Person): Promise<string[]> {
  const reader = await chat.users.actor(user_id)
  const path = `/api/notifications?limit=${PAGE}`
  const paths = [path]
  let after: string | undefined
  for (let page = 1; page < OWN / PAGE; page++) {
    const { unread, next_after } = await chat.notifications.list(reader, { limit: PAGE, ...(after && { after }) })
    if (unread !== OWN || !next_after) throw new Error(`page ${page} of the inbox is wrong`)
    after = next_after
    if (page % STEP === 0) paths.push(`${path}&after=${encodeURIComponent(after)}`)
  }
  return paths
}
