import { setTimeout as sleep } from 'node:timers/promises'
import { createFailure } from '../load/failure.ts'
import { httpRequest } from '../load/http.ts'
import { p99 } from '../load/latency.ts'
import { openPoster } from '../load/poster.ts'
import { openSocket } from '../load/socket.ts'
import type { Row } from '../row.ts'
import type { Server } from '../servers/child.ts'
import { onPostgres, postgresMissing } from '../servers/databases.ts'
import { createPeople, numbers, type Person, type Place } from '../servers/people.ts'
import { startBareService } from '../servers/service.ts'
import { withServers } from '../servers/with.ts'
import { allStream } from './many-streams.ts'

/** Each of them types once in a round. */
const TYPISTS = 150

/** The mean time between two of them: nothing that the nodes do at intervals falls into step with it. */
const PAUSE_MS = 40

const MAX_DELAY_MS = 5_000

const TYPING = /event: typing\.update\n.*?"user_id":"([^"]+)"/gs

/** Typing is passed on through the database, and not stored. */
export const typingNodes: Row = {
  name: 'typing-nodes-p99',
  title: 'from the answer to a typing status on one node to its event on another one, 99th percentile',
  unit: 'ms',
  better: 'lower',
  reach: 250,
  beyond: 180,
  unavailable: postgresMissing,
  measure: ({ rounds, command }) =>
    onPostgres(async (create) => {
      const database = await create()
      const { people, places } = await createPeople(database, TYPISTS + 1, [numbers(TYPISTS + 1)])
      const start = () => startBareService(command, database)
      return withServers(start(), start(), async (one, other) => {
        const delays: number[][] = []
        // The first round is a warm-up.
        while (delays.length <= rounds) delays.push(await measureRound(one, other, people, places[0]!))
        return delays.slice(1).map((each) => ({ service: p99(each) }))
      })
    }),
}

/** The delays of one round, in milliseconds. */
async function measureRound(one: Server, other: Server, people: Person[], place: Place): Promise<number[]> {
  const { fail, or } = createFailure()
  const arrivals = new Map<string, number>()
  const answers = new Map<string, number>()
  let isReady = false
  let text = ''
  const reader = openSocket(other.port, {
    bytes: (bytes) => {
      text += bytes.toString('latin1')
      isReady ||= text.includes('event: stream.ready')
      for (const [, user_id] of text.matchAll(TYPING))
        if (!arrivals.has(user_id!)) arrivals.set(user_id!, performance.now())
      // Events are whole at the end of a write but for the last one.
      text = text.slice(Math.max(0, text.lastIndexOf('\n\n')))
    },
    lost: fail,
  })
  let answered = () => {}
  const poster = openPoster(one.port, () => answered(), fail)
  const waitUntil = async (isTrue: () => boolean) => {
    for (const end = performance.now() + MAX_DELAY_MS; !isTrue(); await or(sleep(5)))
      if (performance.now() > end) throw new Error('an event did not reach the reader on the other node')
  }
  try {
    reader.write(allStream(people[0]!)[0]!.send)
    await waitUntil(() => isReady)
    for (const { user_id, headers } of people.slice(1)) {
      const body = { conversation_id: place.conversation_id, seconds: 5 }
      const answer = new Promise<void>((resolve) => (answered = resolve))
      poster.send(httpRequest('POST', '/api/typing', { headers, body }))
      await or(answer)
      answers.set(user_id, performance.now())
      await or(sleep(Math.random() * 2 * PAUSE_MS))
    }
    await waitUntil(() => arrivals.size === answers.size)
  } finally {
    reader.destroy()
    poster.close()
  }
  return [...answers].map(([user_id, at]) => Math.max(0, arrivals.get(user_id)! - at))
}
