import { type Audience, openAudience } from '../load/audience.ts'
import { deliverTo } from '../load/deliver.ts'
import { createFailure } from '../load/failure.ts'
import { cpuMicros, type Measured, measure, perSecond } from '../load/measure.ts'
import { postSteadily } from '../load/steady.ts'
import { postTemplate } from '../load/template.ts'
import { connectionsMissing, processFiguresMissing } from '../machine.ts'
import type { Bench, Row } from '../row.ts'
import type { Server } from '../servers/child.ts'
import { onPostgres, postgresMissing } from '../servers/databases.ts'
import { createPeople, type Person, type Place } from '../servers/people.ts'
import { startBareService } from '../servers/service.ts'
import { allStream, pairs, singleStream } from './many-streams.ts'

const POSTS_PER_SECOND = 50
const MANY_POSTS = 1_000

/** The streams of the node to compare with. */
const FEW = 20

/** Bytes that are sent at intervals would be counted to whichever round they fall into. */
const ENVIRONMENT = { CHAT_SSE__HEARTBEAT_SECONDS: '3600' }

/** How long posts go to the followed conversations after each round. */
const PROOF_SECONDS = 0.2

/** A commit of another node that concerns no stream of this one. Both nodes are measured at the same time. */
export const foreignCommits: Row = {
  name: 'foreign-commits',
  title: `CPU of a node per post on another one, ${POSTS_PER_SECOND} a second, --streams open, none concerned`,
  unit: 'µs',
  peer: `a node with ${FEW} streams`,
  better: 'lower',
  reach: 1.5,
  beyond: 1.1,
  unavailable: missing,
  measure: async (bench) => {
    const measured = await measureBoth(bench, POSTS_PER_SECOND)
    return measured.map(([service, peer]) => ({ service: cpuMicros(service!), peer: cpuMicros(peer!) }))
  },
}

/** The same of so many that the events are most of the work of other nodes. */
export const manyForeignCommits: Row = {
  name: 'foreign-commits-1000',
  title: `CPU of a node while another one takes ${MANY_POSTS} posts a second, --streams open, none concerned`,
  unit: '% of a core',
  better: 'lower',
  reach: 5,
  beyond: 2,
  unavailable: missing,
  measure: async (bench) => {
    const measured = await measureBoth(bench, MANY_POSTS)
    return measured.map(([service]) => {
      if (perSecond(service!) < 0.9 * MANY_POSTS)
        throw new Error(`only ${perSecond(service!)} posts a second were taken`)
      return { service: (100 * service!.cpu) / service!.seconds }
    })
  },
}

function missing({ streams }: Bench): string | undefined {
  return postgresMissing() ?? processFiguresMissing() ?? connectionsMissing(streams)
}

/** What a node with `--streams` and one with few used in each round, and how many posts a third one took meanwhile. */
function measureBoth(bench: Bench, rate: number): Promise<Measured[][]> {
  return onPostgres(async (create) => {
    const database = await create()
    const many = bench.streams - (bench.streams % 2)
    const groups = pairs(many + FEW + 2)
    const { people, places } = await createPeople(database, many + FEW + 2, groups)
    const started: { stop(): Promise<void> }[] = []
    const start = async () => {
      const server = await startBareService(bench.command, database, ENVIRONMENT)
      started.push(server)
      return server
    }
    try {
      const writer = await start()
      const nodes: Node[] = []
      for (const [from, to] of [[0, many] as const, [many, many + FEW] as const]) {
        const node = await openNode(await start(), people, places, from, to)
        nodes.push(node)
        started.push({ stop: async () => node.audience.close() })
      }
      const post = postTemplate(`/api/messages/${places.at(-1)!.root_id}/reply`, people.at(-1)!.headers)
      const round = () => measureRound({ port: writer.port, post }, nodes, rate, bench)
      await round()
      const rounds: Measured[][] = []
      while (rounds.length < bench.rounds) rounds.push(await round())
      return rounds
    } finally {
      for (const server of started.reverse()) await server.stop()
    }
  })
}

/** A node whose streams are followed, and what a post to the first conversation among them looks like. */
interface Node {
  pid: number
  audience: Audience
  post: readonly [string, string]
}

/** Opens a stream for each of these users: in turn of all conversations, and of a single one. */
async function openNode(
  { pid, port }: Server,
  people: Person[],
  places: Place[],
  from: number,
  to: number,
): Promise<Node> {
  const openings = people.slice(from, to).map((person, n) => {
    return n % 2 ? singleStream(person, places[(from + n) >> 1]!) : allStream(person)
  })
  const audience = await openAudience(port, openings.slice(0, 2), openings.slice(2))
  return {
    pid,
    audience,
    post: postTemplate(`/api/messages/${places[from >> 1]!.root_id}/reply`, people[from]!.headers),
  }
}

async function measureRound(
  target: { port: number; post: readonly [string, string] },
  nodes: Node[],
  rate: number,
  { seconds }: Bench,
): Promise<Measured[]> {
  const { fail, or } = createFailure()
  const posts = postSteadily(target, rate, fail)
  try {
    const measured = await or(Promise.all(nodes.map(({ pid }) => measure(pid, seconds, () => posts.answered))))
    await or(posts.stop())
    // The streams are alive, and do get what concerns them from that node.
    for (const { pid, audience, post } of nodes)
      await deliverTo(audience, { pid, port: target.port, post }, { window: 1, seconds: PROOF_SECONDS })
    return measured
  } finally {
    posts.close()
  }
}
