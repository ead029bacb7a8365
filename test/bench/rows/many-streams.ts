import { openAudience } from '../load/audience.ts'
import { deliverTo } from '../load/deliver.ts'
import { httpRequest } from '../load/http.ts'
import { cpuMicros } from '../load/measure.ts'
import type { Step } from '../load/reader.ts'
import { postTemplate } from '../load/template.ts'
import { connectionsMissing, processFiguresMissing } from '../machine.ts'
import { type Bench, interleaveWarm, type Row } from '../row.ts'
import { onPostgres, onSqlite, postgresMissing, type WithDatabases } from '../servers/databases.ts'
import { createPeople, numbers, type Person, type Place } from '../servers/people.ts'
import { startBareService } from '../servers/service.ts'
import { withServers } from '../servers/with.ts'

/** How many of them get a post, whatever their number. */
export const CONCERNED = 2

/** The stream of all conversations of a user. */
export function allStream({ headers }: Person): Step[] {
  return streamSteps('/api/stream', headers)
}

/** The stream of one conversation. */
export function singleStream({ headers }: Person, { conversation_id }: Place): Step[] {
  return streamSteps(`/api/stream/conversations/${conversation_id}`, headers)
}

function streamSteps(path: string, headers: Record<string, string>): Step[] {
  const send = httpRequest('GET', path, { headers: { ...headers, accept: 'text/event-stream' } })
  return [{ send, until: 'stream.ready' }]
}

/** The users in twos, each two of them in a conversation of their own. */
export function pairs(count: number): number[][] {
  return numbers(count / 2).map((n) => [2 * n, 2 * n + 1])
}

/** Posts to one of many conversations: the streams that it does not concern should cost nothing. */
function manyStreams(name: string, on: string, withDatabases: WithDatabases, missing: () => string | undefined): Row {
  return {
    name,
    title: `CPU per post on ${on}, --streams of all conversations open, ${CONCERNED} concerned`,
    unit: 'µs',
    peer: 'as many of single conversations',
    better: 'lower',
    reach: 1.2,
    beyond: 1.05,
    unavailable: ({ streams }) => missing() ?? processFiguresMissing() ?? connectionsMissing(2 * streams),
    measure: (bench) =>
      withDatabases(async (create) => {
        const all = open(bench, await create(), allStream)
        const single = open(bench, await create(), singleStream)
        return withServers(all, single, (service, peer) =>
          interleaveWarm(bench.rounds, service.cpuPerPost, peer.cpuPerPost),
        )
      }),
  }
}

export const streamsAll = manyStreams('streams-all', 'SQLite', onSqlite, () => undefined)

export const streamsAllPg = manyStreams('streams-all-pg', 'PostgreSQL', onPostgres, postgresMissing)

/** Starts the service on a new database with its streams, which stay open for all rounds. */
async function open(
  { streams, seconds, command }: Bench,
  database: string,
  stepsOf: (person: Person, place: Place) => Step[],
) {
  const count = streams - (streams % 2)
  const { people, places } = await createPeople(database, count, pairs(count))
  const server = await startBareService(command, database)
  const openings = people.map((person, n) => stepsOf(person, places[n >> 1]!))
  const target = { ...server, post: postTemplate(`/api/messages/${places[0]!.root_id}/reply`, people[0]!.headers) }
  const audience = openAudience(server.port, openings.slice(0, CONCERNED), openings.slice(CONCERNED))
  return {
    ...server,
    cpuPerPost: async () => cpuMicros(await deliverTo(await audience, target, { window: 1, seconds })),
    async stop() {
      await audience.then((opened) => opened.close()).catch(() => {})
      await server.stop()
    },
  }
}
