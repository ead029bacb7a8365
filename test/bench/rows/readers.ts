import { contextOf } from '../../../lib/core/context-of.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { httpRequest } from '../load/http.ts'
import { cpuMicros } from '../load/measure.ts'
import { repeatRequest } from '../load/requests.ts'
import type { Row } from '../row.ts'
import { onEachDatabase } from '../servers/each-database.ts'
import { createPeople, numbers, type Person, type Place, withChat } from '../servers/people.ts'

const READERS = 10_000

/** Of a message that all participants have read. */
export const readers = onEachDatabase(async (database, { rounds, seconds }) => {
  const { people, places } = await createPeople(database, READERS, [numbers(READERS)])
  const [owner, reader] = people as [Person, Person]
  const [place] = places as [Place]
  await readByAll(database, owner, place)
  return async (service) => {
    const requests = [httpRequest('GET', `/api/messages/${place.root_id}/readers`, reader)]
    const measure = async () => cpuMicros(await repeatRequest({ ...service, requests }, 1, seconds)) / 1000
    await measure()
    const measured: number[] = []
    for (let round = 0; round < rounds; round++) measured.push(await measure())
    return measured.map((service) => ({ service }))
  }
}).map(({ suffix, on, ...measured }): Row => {
  return {
    name: `readers${suffix}`,
    title: `CPU of the first page and the number of ${READERS.toLocaleString('en-US')} readers of a message${on}`,
    unit: 'ms',
    better: 'lower',
    reach: 10,
    beyond: 5,
    ...measured,
  }
})

/** Turns receipts on, and stores the markers of all participants at the root. */
function readByAll(database: string, owner: Person, { conversation_id, root_id }: Place): Promise<void> {
  return withChat(database, async (chat) => {
    await chat.conversations.rename(await chat.users.actor(owner.user_id), conversation_id, {
      policy: { receipts: 'on' },
    })
    const { db } = contextOf(chat)
    await db.write((tx) =>
      tx.run(
        sql`INSERT INTO thread_members (root_id, user_id, live_count, read_at, read_count)
         SELECT t.root_id, p.user_id, 0, t.last_activity_at, 1 FROM threads t
           JOIN participants p ON p.conversation_id = t.conversation_id AND p.role <> 'owner'
          WHERE t.root_id = ${root_id}`,
      ),
    )
    // As PostgreSQL itself does after a while.
    if (db.dialect === 'postgresql') await db.run(sql`ANALYZE`)
  })
}
