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
import { newDatabase, startBareService } from '../servers/service.ts'
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
        const opened = bench.streams - (bench.streams % 2)
        const of = (stepsOf: StepsOf) => ({ stepsOf, groups: pairs(opened), opened })
        const all = open(bench, await create(), of(allStream))
        const single = open(
          bench,
          await create(),
          of((person, n, places) => singleStream(person, places[n >> 1]!)),
        )
        return withServers(all, single, (service, peer) =>
          interleaveWarm(bench.rounds, service.cpuPerPost, peer.cpuPerPost),
        )
      }),
  }
}

export const streamsAll = manyStreams('streams-all', 'SQLite', onSqlite, () => undefined)

export const streamsAllPg = manyStreams('streams-all-pg', 'PostgreSQL', onPostgres, postgresMissing)

/** In so many of as many conversations as there are users is each of them. */
const MEMBERSHIPS = 20

/** The streams of the service to compare with. */
const FEW = 100

/** What a post costs must not depend on the number of streams that it does not concern, nor on what their users follow. */
export const streamsMember: Row = {
  name: 'streams-member',
  title: `CPU per post, --streams of all conversations open, each of a user in ${MEMBERSHIPS} of --streams, ${CONCERNED} concerned`,
  unit: 'µs',
  peer: `${FEW} streams`,
  better: 'lower',
  reach: 1.2,
  beyond: 1.05,
  unavailable: ({ streams }) => processFiguresMissing() ?? connectionsMissing(streams + FEW),
  async measure(bench) {
    const groups = memberships(bench.streams)
    const of = (opened: number) => open(bench, newDatabase(), { groups, opened, stepsOf: allStream })
    return withServers(of(bench.streams), of(Math.min(FEW, bench.streams)), (service, peer) =>
      interleaveWarm(bench.rounds, service.cpuPerPost, peer.cpuPerPost),
    )
  },
}

/** The first conversation is of the two users whom posts concern; of the others each user is in as many. */
function memberships(users: number): number[][] {
  const groups: number[][] = numbers(users).map(() => [])
  groups[0] = [0, 1]
  for (let place = 0; place < users * MEMBERSHIPS; place++)
    groups[1 + (place % (users - 1))]!.push(Math.floor(place / MEMBERSHIPS))
  return groups
}

/** The steps that open the stream of a user, by number. */
type StepsOf = (person: Person, n: number, places: Place[]) => Step[]

interface Opening {
  /** The users of each conversation, by number. Posts go to the first one. */
  groups: number[][]
  /** How many of the users open a stream. */
  opened: number
  stepsOf: StepsOf
}

/** Starts the service on a new database with its streams, which stay open for all rounds. */
async function open({ streams, seconds, command }: Bench, database: string, { groups, opened, stepsOf }: Opening) {
  const { people, places } = await createPeople(database, streams, groups)
  const server = await startBareService(command, database)
  const openings = people.slice(0, opened).map((person, n) => stepsOf(person, n, places))
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
