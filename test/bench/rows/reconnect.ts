import { setTimeout as sleep } from 'node:timers/promises'
import { createFailure } from '../load/failure.ts'
import { httpRequest } from '../load/http.ts'
import { WARM_UP_MS } from '../load/measure.ts'
import { type Returning, returnAll, sendAll } from '../load/returning.ts'
import { postSteadily } from '../load/steady.ts'
import { postContent, postTemplate } from '../load/template.ts'
import { connectionsMissing } from '../machine.ts'
import { type Bench, oncePerBench, type Row } from '../row.ts'
import { createPeople, numbers, type Person, type Place } from '../servers/people.ts'
import { newDatabase, startBareService } from '../servers/service.ts'

/** One of so many users is in the large conversation. */
const SHARE = 5

/** The posts that each of them has missed. */
const MISSED = 20

/** Of the other conversations, so many have had a post each. */
const MISSED_ELSEWHERE = 200

/** How often the number of open streams is looked at. */
const LOOK_MS = 100

/** Posts to a conversation without streams, meanwhile. */
const POSTS_PER_SECOND = 20

/** By default 10,000 connections are open at the same time, and those that post are some more. */
const ENVIRONMENT = { CHAT_SERVER__MAX_CONNECTIONS: '25000' }

/** A round opens every stream twice, the first time as a warm-up, and depends little on time. */
const MAX_ROUNDS = 3

const TITLE = `--streams of as many users, a fifth of them in one conversation, come back at once`

export const reconnect: Row = {
  name: 'reconnect-10k',
  title: `seconds until all are level, for each 1,000: ${TITLE}`,
  unit: 's',
  better: 'lower',
  reach: 1,
  beyond: 0.5,
  unavailable: ({ streams }) => connectionsMissing(streams),
  measure: async (bench) =>
    (await measured(bench)).map(({ seconds }) => ({ service: (seconds * 1000) / bench.streams })),
}

export const reconnectP99: Row = {
  ...reconnect,
  name: 'reconnect-10k-p99',
  title: `99th percentile of a post meanwhile: ${TITLE}`,
  unit: 'ms',
  reach: 500,
  beyond: 100,
  measure: async (bench) => (await measured(bench)).map(({ post_ms }) => ({ service: post_ms })),
}

interface Measured {
  seconds: number
  post_ms: number
}

/** Both rows show one run. */
const measured = oncePerBench(measure)

async function measure(bench: Bench): Promise<Measured[]> {
  const { streams, command } = bench
  const together = Math.floor(streams / SHARE)
  const apart = numbers(Math.ceil((streams - together) / 2)).map((n) => {
    return [together + 2 * n, together + 2 * n + 1].filter((person) => person < streams)
  })
  // The last user, who has no stream, posts meanwhile.
  const groups = [numbers(together), ...apart, [streams]]
  const database = newDatabase()
  const { people, places } = await createPeople(database, streams + 1, groups)
  const server = await startBareService(command, database, ENVIRONMENT)
  try {
    const round = () => measureRound(server.port, people, places, together)
    const rounds: Measured[] = []
    while (rounds.length < Math.min(bench.rounds, MAX_ROUNDS)) rounds.push(await round())
    return rounds
  } finally {
    await server.stop()
  }
}

async function measureRound(port: number, people: Person[], places: Place[], together: number): Promise<Measured> {
  const { fail, or } = createFailure()
  const streams = people.slice(0, -1)
  const before = await or(
    returnAll(
      port,
      streams.map(({ headers }): Returning => ({ headers, missed: 0 })),
      fail,
    ),
  )
  before.close()
  await or(untilClosed(port))
  await or(postMissed(port, people, places, together, fail))

  const answers: { sent: number; ms: number }[] = []
  const post = postTemplate(`/api/messages/${places.at(-1)!.root_id}/reply`, people.at(-1)!.headers)
  const posts = postSteadily({ port, post }, POSTS_PER_SECOND, fail, (_, ms) => {
    answers.push({ sent: performance.now() - ms, ms })
  })
  try {
    await or(sleep(WARM_UP_MS))
    const returning = streams.map(({ headers }, n) => {
      return { headers, last_event_id: before.positions[n]!, missed: missedBy(n, together) }
    })
    const began = performance.now()
    const after = await or(returnAll(port, returning, fail))
    const ended = performance.now()
    await or(posts.stop())
    after.close()
    const meanwhile = answers.filter(({ sent }) => sent >= began && sent <= ended).map(({ ms }) => ms)
    return { seconds: (ended - began) / 1000, post_ms: slowest(meanwhile) }
  } finally {
    posts.close()
  }
}

/** Waits until the service has ended the streams, whose connections count as well. */
async function untilClosed(port: number): Promise<void> {
  for (;;) {
    const page = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
    if (/^chat_streams_open 0$/m.test(page)) return
    await sleep(LOOK_MS)
  }
}

/** Posts to the large conversation one after the other, and once to each of the others. */
async function postMissed(
  port: number,
  people: Person[],
  places: Place[],
  together: number,
  fail: (error: Error) => void,
): Promise<void> {
  const post = (place: Place, { headers }: Person, seq: number) =>
    httpRequest('POST', `/api/messages/${place.root_id}/reply`, { headers, body: { content: postContent(seq) } })
  await sendAll(
    port,
    numbers(MISSED).map((seq) => post(places[0]!, people[0]!, seq)),
    1,
    fail,
  )
  const others = places
    .slice(1, -1)
    .slice(0, MISSED_ELSEWHERE)
    .map((place, n) => post(place, people[together + 2 * n]!, MISSED + n))
  await sendAll(port, others, 32, fail)
}

/** How many posts a user has missed. */
function missedBy(person: number, together: number): number {
  if (person < together) return MISSED
  return Math.floor((person - together) / 2) < MISSED_ELSEWHERE ? 1 : 0
}

/** What 99 of 100 do not exceed; the longest of fewer. */
function slowest(times: number[]): number {
  if (times.length === 0) throw new Error('no post was sent while the streams came back: open more of them (--streams)')
  return times.toSorted((a, b) => a - b)[Math.ceil(times.length * 0.99) - 1]!
}
