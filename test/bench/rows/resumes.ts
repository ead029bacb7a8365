import { contextOf } from '../../../lib/core/context-of.ts'
import { sql } from '../../../lib/storage/sql.ts'
import { httpRequest } from '../load/http.ts'
import { timeStreams } from '../load/whole-streams.ts'
import { median, type Row } from '../row.ts'
import { onEachDatabase } from '../servers/each-database.ts'
import { createPeople, numbers, type Person, type Place, withChat } from '../servers/people.ts'

const ROWS = 10_000
const STREAMS = 100

/** A row of a language model: a word. */
const textOf = (n: number) => `word${n} `

/** After a failure of the network, the readers of a long answer come back at once. */
export const resumes: Row[] = onEachDatabase(
  async (database, { rounds }) => {
    const { people, places } = await createPeople(database, 1, [[0]])
    const message_id = await addLongAnswer(database, people[0]!, places[0]!)
    const { headers } = people[0]!
    const request = httpRequest('GET', `/api/messages/${message_id}/ui-stream`, { headers })
    const least = numbers(ROWS).reduce((sum, n) => sum + textOf(n).length, 0)
    return async ({ port }) => {
      const round = async () => ({ service: median(await timeStreams({ port, request, least }, STREAMS)) })
      await round()
      const measured = []
      for (let n = 0; n < rounds; n++) measured.push(await round())
      return measured
    }
  },
  { CHAT_FEATURES__UI_STREAM: 'true' },
).map(({ suffix, on, ...measured }) => ({
  name: `resume-${STREAMS}${suffix}`,
  title: `how long each of ${STREAMS} streams of an answer of ${ROWS} rows takes that are opened at once (\`useChat\`)${on}`,
  unit: 'ms',
  better: 'lower',
  reach: 500,
  beyond: 100,
  ...measured,
}))

/** An answer of many rows. @returns its id */
function addLongAnswer(database: string, { user_id }: Person, { conversation_id }: Place): Promise<string> {
  return withChat(database, async (chat) => {
    const actor = await chat.users.actor(user_id)
    const { message_id } = await chat.messages.postRoot(actor, conversation_id, { content: 'Why?', role: 'assistant' })
    await chat.idle()
    const { now, write } = contextOf(chat)
    await write(async (tx) => {
      await tx.run(sql`DELETE FROM message_chunks WHERE message_id = ${message_id}`)
      for (const idx of numbers(ROWS))
        await tx.run(
          sql`INSERT INTO message_chunks (message_id, idx, content, created_at)
                VALUES (${message_id}, ${idx}, ${textOf(idx)}, ${now()})`,
        )
    })
    return message_id
  })
}
