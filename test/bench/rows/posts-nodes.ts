import { httpRequest } from '../load/http.ts'
import { cpuMicros, perSecond } from '../load/measure.ts'
import { repeatRequest } from '../load/requests.ts'
import { postContent } from '../load/template.ts'
import { processFiguresMissing } from '../machine.ts'
import { type Bench, interleaveWarm, oncePerBench, type Row, roundsOf } from '../row.ts'
import type { Server } from '../servers/child.ts'
import { onPostgres, postgresMissing } from '../servers/databases.ts'
import { createPeople, numbers } from '../servers/people.ts'
import { startBareService } from '../servers/service.ts'
import { withServers } from '../servers/with.ts'

const NODES = 4
const CONVERSATIONS = 32

/** As many as one node takes well, and as many as make several nodes worth while: posts that wait together share a transaction. */
const FEW = 32
const MANY = 512

/** A node takes a quarter of the posts, and is compiled as it takes them: rounds last so many times longer. */
const LONGER = 3

/**
 * The rate of posts, and the CPU of the nodes. All nodes, the database and the load share the cores of one machine: with
 * two of them nodes cannot add much.
 */
function rowsOf(name: string, underWay: number): Row[] {
  const title = `${NODES} nodes on PostgreSQL, ${underWay} under way in ${CONVERSATIONS} conversations`
  // Both rows show one run.
  const measured = oncePerBench((bench) => measure(bench, underWay))
  const rate: Row = {
    name,
    title: `durable posts a second, ${title}`,
    unit: '/s',
    peer: 'one node',
    better: 'higher',
    reach: 1,
    beyond: 1.5,
    unavailable: postgresMissing,
    measure: async (bench) => roundsOf(await measured(bench), perSecond),
  }
  const cpu: Row = {
    ...rate,
    name: `${name}-cpu`,
    title: `CPU of the nodes per post, ${title}`,
    unit: 'µs',
    better: 'lower',
    reach: 1.15,
    beyond: 1,
    unavailable: () => postgresMissing() ?? processFiguresMissing(),
    measure: async (bench) => roundsOf(await measured(bench), cpuMicros),
  }
  return [rate, cpu]
}

const measure = ({ rounds, command, ...bench }: Bench, underWay: number) =>
  onPostgres(async (create) => {
    const seconds = LONGER * bench.seconds
    const [shared, single] = [await create(), await create()]
    return withServers(startNodes(command, shared, NODES), startNodes(command, single, 1), async (nodes, node) => {
      const postToNodes = () => repeatRequest(nodes, underWay, seconds)
      // Each of them gets a share of the posts only, and should have compiled as much as the single one.
      for (let more = 1; more < NODES; more++) await postToNodes()
      return interleaveWarm(rounds, postToNodes, () => repeatRequest(node, underWay, seconds))
    })
  })

/** Nodes on one new database, and the posts that they take. */
async function startNodes(command: string[], database: string, count: number) {
  const { people, places } = await createPeople(
    database,
    CONVERSATIONS,
    numbers(CONVERSATIONS).map((n) => [n]),
  )
  const servers: Server[] = []
  const stop = async () => void (await Promise.all(servers.map((server) => server.stop())))
  try {
    while (servers.length < count) servers.push(await startBareService(command, database))
  } catch (error) {
    await stop()
    throw error
  }
  const body = { content: postContent(0) }
  return {
    pid: servers.map(({ pid }) => pid),
    port: servers.map(({ port }) => port),
    requests: places.map(({ root_id }, n) => {
      return httpRequest('POST', `/api/messages/${root_id}/reply`, { headers: people[n]!.headers, body })
    }),
    stop,
  }
}

export const postsPgNodes: Row[] = [...rowsOf('posts-pg-nodes', FEW), ...rowsOf('posts-pg-nodes-512', MANY)]
