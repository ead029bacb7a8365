import { setTimeout as sleep } from 'node:timers/promises'
import { createFailure } from '../load/failure.ts'
import { httpRequest } from '../load/http.ts'
import { cpuMicros } from '../load/measure.ts'
import { repeatRequest } from '../load/requests.ts'
import { openSocket } from '../load/socket.ts'
import { postContent } from '../load/template.ts'
import { connectionsMissing } from '../machine.ts'
import { interleaveWarm, type Row } from '../row.ts'
import { onEachDatabase, type Running } from '../servers/each-database.ts'
import { createPeople, numbers, type Person } from '../servers/people.ts'

/** The users who wait, each in a conversation of their own. */
const WAITING = 1_000

/** All wait after so long; a call waits for 50 s. */
const OPENED_MS = 2_000

const UNDER_WAY = 4

/** CPU of a post elsewhere while each of these requests waits for its answer. */
async function cpuBeside({ port, pid }: Running, requests: string[], post: string, seconds: number): Promise<number> {
  const { fail, or } = createFailure()
  const sockets = requests.map((request) => {
    const socket = openSocket(port, { bytes: () => {}, lost: fail })
    socket.write(request, 'latin1')
    return socket
  })
  try {
    await or(sleep(OPENED_MS))
    return cpuMicros(await or(repeatRequest({ pid, port, requests: [post] }, UNDER_WAY, seconds)))
  } finally {
    for (const socket of sockets) socket.destroy()
  }
}

async function positionOf({ port }: Running, { headers }: Person): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}/api/feed`, { headers })
  return ((await answer.json()) as { position: string }).position
}

/** Posts beside many programs that wait for events of other conversations, and beside as many streams. */
export const feedWaiting: Row[] = onEachDatabase(async (database, { rounds, seconds }) => {
  const groups = numbers(WAITING + 1).map((n) => [n])
  const { people, places } = await createPeople(database, WAITING + 1, groups)
  const [author, ...others] = people as [Person, ...Person[]]
  const body = { content: postContent(0) }
  const post = httpRequest('POST', `/api/messages/${places[0]!.root_id}/reply`, { headers: author.headers, body })
  const streams = others.map(({ headers }) => {
    return httpRequest('GET', '/api/stream', { headers: { ...headers, accept: 'text/event-stream' } })
  })
  return (service) =>
    interleaveWarm(
      rounds,
      async () => {
        const path = `/api/feed?wait_seconds=50&after=${await positionOf(service, author)}`
        const calls = others.map(({ headers }) => httpRequest('GET', path, { headers }))
        return cpuBeside(service, calls, post, seconds)
      },
      () => cpuBeside(service, streams, post, seconds),
    )
}).map(({ suffix, on, unavailable, measure }) => ({
  name: `feed-waiting${suffix}`,
  title: `CPU of a post beside ${WAITING.toLocaleString('en-US')} calls of the feed that wait${on}`,
  unit: 'µs',
  peer: 'beside as many streams',
  better: 'lower',
  reach: 1.2,
  beyond: 1,
  unavailable: (bench) => unavailable(bench) ?? connectionsMissing(WAITING),
  measure,
}))
