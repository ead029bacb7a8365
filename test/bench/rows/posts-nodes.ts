import { httpRequest } from '../load/http.ts'
import { cpuMicros, perSecond } from '../load/measure.ts'
import { repeatRequest } from '../load/requests.ts'
import { postContent } from '../load/template.ts'
import { processFiguresMissing } from '../machine.ts'
import { interleaveWarm, oncePerBench, type Row, roundsOf } from '../row.ts'
import type { Server } from '../servers/child.ts'
import { onPostgres, postgresMissing } from '../servers/databases.ts'
import { createPeople, numbers } from '../servers/people.ts'
import { startBareService } from '../servers/service.ts'
import { withServers } from '../servers/with.ts'

const NODES = 4
const UNDER_WAY = 32

const TITLE = `${NODES} nodes on PostgreSQL, ${UNDER_WAY} under way in ${UNDER_WAY} conversations`

/** All nodes, the database and the load share the cores of one machine: with two of them nodes cannot add much. */
export const postsPgNodes: Row = {
  name: 'posts-pg-nodes',
  title: `durable posts a second, ${TITLE}`,
  unit: '/s',
  peer: 'one node',
  better: 'higher',
  reach: 1,
  beyond: 1.5,
  unavailable: postgresMissing,
  measure: async (bench) => roundsOf(await measured(bench), perSecond),
}

export const postsPgNodesCpu: Row = {
  ...postsPgNodes,
  name: 'posts-pg-nodes-cpu',
  title: `CPU of the nodes per post, ${TITLE}`,
  unit: 'µs',
  better: 'lower',
  reach: 1.15,
  beyond: 1,
  unavailable: () => postgresMissing() ?? processFiguresMissing(),
  measure: async (bench) => roundsOf(await measured(bench), cpuMicros),
}

/** Both rows show one run. */
const measured = oncePerBench(({ rounds, seconds, command }) =>
  onPostgres(async (create) => {
    const [shared, single] = [await create(), await create()]
    return withServers(startNodes(command, shared, NODES), startNodes(command, single, 1), async (nodes, node) => {
      const postToNodes = () => repeatRequest(nodes, UNDER_WAY, seconds)
      // Each of them gets a share of the posts only, and should have compiled as much as the single one.
      for (let more = 1; more < NODES; more++) await postToNodes()
      return interleaveWarm(rounds, postToNodes, () => repeatRequest(node, UNDER_WAY, seconds))
    })
  }),
)

/** Nodes on one new database, and the posts that they take. */
async function startNodes(command: string[], database: string, count: number) {
  const { people, places } = await createPeople(
    database,
    UNDER_WAY,
    numbers(UNDER_WAY).map((n) => [n]),
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
