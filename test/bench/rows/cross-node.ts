import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { BUS_SERVERS, type BusExample, startBusServer } from '../../support/bus-servers.ts'
import { type Audience, openAudience } from '../load/audience.ts'
import { p99 } from '../load/latency.ts'
import { WARM_UP_MS } from '../load/measure.ts'
import { postSteadily } from '../load/steady.ts'
import { postTemplate } from '../load/template.ts'
import { type Bench, median, oncePerBench, type Row } from '../row.ts'
import { ROOT, type Server, startServer } from '../servers/child.ts'
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

const crossNode: Omit<Row, 'measure'> = {
  name: 'cross-node',
  title: `${TITLE}, median`,
  unit: 'ms',
  better: 'lower',
  reach: 90,
  beyond: 5,
  unavailable: postgresMissing,
}

/** What starts a node on a database. */
type StartNode = (database: string) => Promise<Server>

/** The median and the 99th percentile of one run. */
function rowsOf(suffix: string, more: Partial<Row>, run: (bench: Bench) => Promise<number[][]>): [Row, Row] {
  const delaysOf = oncePerBench(run)
  const row: Row = {
    ...crossNode,
    ...more,
    name: `${crossNode.name}${suffix}`,
    measure: async (bench) => (await delaysOf(bench)).map((delays) => ({ service: median(delays) })),
  }
  const rowP99: Row = {
    ...row,
    name: `${row.name}-p99`,
    title: row.title.replace('median', '99th percentile'),
    reach: row.reach === 5 ? 20 : 180,
    beyond: row.reach === 5 ? 10 : 20,
    measure: async (bench) => (await delaysOf(bench)).map((delays) => ({ service: p99(delays) })),
  }
  return [row, rowP99]
}

const withBus = (example: BusExample) =>
  rowsOf(
    `-${example.replace('bus-', '')}`,
    {
      title: `${TITLE}, with examples/${example}, median`,
      reach: 5,
      beyond: 3,
      unavailable: () => postgresMissing() ?? busMissing(example),
    },
    async (bench) => {
      const broker = await startBusServer(example)
      try {
        return await measure(bench, (database) =>
          startServer(['--import', 'tsx', 'test/bench/servers/bus-node.ts', example, database, broker.url]),
        )
      } finally {
        await broker.stop()
      }
    },
  )

export const crossNodes: Row[] = [
  ...rowsOf('', {}, (bench) => measure(bench, (database) => startBareService(bench.command, database))),
  ...withBus('bus-nats'),
  ...withBus('bus-valkey'),
]

function busMissing(example: BusExample): string | undefined {
  if (!BUS_SERVERS[example].program) return 'its server is not installed'
  return existsSync(join(ROOT, 'examples', example, 'node_modules')) ? undefined : `npm ci --prefix examples/${example}`
}

/** The delays of each round, in milliseconds. */
function measure({ rounds, seconds }: Bench, start: StartNode): Promise<number[][]> {
  return onPostgres(async (create) => {
    const database = await create()
    const { people, places } = await createPeople(database, 2, [[0, 1]])
    const [ada, grace] = [people[0]!, people[1]!]
    const place = places[0]!
    return withServers(start(database), start(database), async ({ port }, other) => {
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
    })
  })
}

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
