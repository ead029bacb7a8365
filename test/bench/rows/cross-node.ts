import { setTimeout as sleep } from 'node:timers/promises'
import { type Audience, openAudience } from '../load/audience.ts'
import { p99 } from '../load/latency.ts'
import { WARM_UP_MS } from '../load/measure.ts'
import { postSteadily } from '../load/steady.ts'
import { postTemplate } from '../load/template.ts'
import { median, oncePerBench, type Row } from '../row.ts'
import { onPostgres, postgresMissing } from '../servers/databases.ts'
import { createPeople } from '../servers/people.ts'
import { startBareService } from '../servers/service.ts'
import { withServers } from '../servers/with.ts'
import { allStream, singleStream } from './many-streams.ts'

/** Many enough for a 99th percentile in short rounds. */
const POSTS_PER_SECOND = 120

/** How long the last events may take after their posts were answered. */
const DRAIN_MS = 4_000

const TITLE = 'from the answer to a post on one node to its event on another one'

export const crossNode: Row = {
  name: 'cross-node',
  title: `${TITLE}, median`,
  unit: 'ms',
  better: 'lower',
  reach: 90,
  beyond: 5,
  unavailable: postgresMissing,
  measure: async (bench) => (await delaysOf(bench)).map((delays) => ({ service: median(delays) })),
}

export const crossNodeP99: Row = {
  ...crossNode,
  name: 'cross-node-p99',
  title: `${TITLE}, 99th percentile`,
  reach: 180,
  beyond: 20,
  measure: async (bench) => (await delaysOf(bench)).map((delays) => ({ service: p99(delays) })),
}

/** The delays of each round, in milliseconds. Both rows show one run. */
const delaysOf = oncePerBench(({ rounds, seconds, command }) =>
  onPostgres(async (create) => {
    const database = await create()
    const { people, places } = await createPeople(database, 2, [[0, 1]])
    const [ada, grace] = [people[0]!, people[1]!]
    const place = places[0]!
    return withServers(
      startBareService(command, database),
      startBareService(command, database),
      async ({ port }, other) => {
        const audience = await openAudience(other.port, [allStream(grace), singleStream(grace, place)])
        const target = { port, post: postTemplate(`/api/messages/${place.root_id}/reply`, ada.headers) }
        try {
          await measureRound(target, audience, seconds)
          const delays: number[][] = []
          while (delays.length < rounds) delays.push(await measureRound(target, audience, seconds))
          return delays
        } finally {
          audience.close()
        }
      },
    )
  }),
)

async function measureRound(
  target: Parameters<typeof postSteadily>[0],
  audience: Audience,
  seconds: number,
): Promise<number[]> {
  const { readers } = audience
  const { fail, or } = audience.failure
  for (const reader of readers) reader.position = 0
  const answers: number[] = []
  /** When each reader got each post. */
  const arrivals = new Map(readers.map((reader) => [reader, new Map<number, number>()]))
  audience.seen = (reader, seq) => {
    const of = arrivals.get(reader)!
    if (of.has(seq)) fail(new Error(`post ${seq} arrived twice`))
    of.set(seq, performance.now())
    reader.position++
  }
  const posts = postSteadily(target, POSTS_PER_SECOND, fail, (seq) => {
    answers[seq] = performance.now()
  })
  try {
    await or(sleep(WARM_UP_MS + seconds * 1000))
    const sent = await or(posts.stop())
    const end = performance.now() + DRAIN_MS
    while (readers.some(({ position }) => position < sent)) {
      if (performance.now() > end) throw new Error('a post did not reach the readers on the other node')
      await or(sleep(5))
    }
  } finally {
    posts.close()
  }
  const start = answers[0]! + WARM_UP_MS
  const counted = [...answers.entries()].filter(([, at]) => at >= start)
  // A reader may get a post before its answer is read here.
  return [...arrivals.values()].flatMap((of) => counted.map(([seq, at]) => Math.max(0, of.get(seq)! - at)))
}
