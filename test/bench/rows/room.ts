import { openAudience } from '../load/audience.ts'
import { deliverTo } from '../load/deliver.ts'
import { cpuMicros, type Measured, perSecond } from '../load/measure.ts'
import { postTemplate } from '../load/template.ts'
import { joinSteps } from '../load/xmpp.ts'
import { processFiguresMissing } from '../machine.ts'
import { type Bench, interleaveWarm, oncePerBench, type Pair, type Row, roundsOf } from '../row.ts'
import { postgresMissing, withPostgres } from '../servers/databases.ts'
import { DOMAIN, ejabberdMissing, ejabberdTarget, ROOM, startEjabberd } from '../servers/ejabberd.ts'
import { createPeople, numbers } from '../servers/people.ts'
import { newDatabase, startBareService } from '../servers/service.ts'
import { withServers } from '../servers/with.ts'
import { allStream } from './many-streams.ts'

const READERS = 100

type Goal = Pick<Row, 'reach' | 'beyond'>

/** Everything that a room is measured by, on one database. */
function rowsOf(
  name: string,
  on: string,
  run: (window: number) => (bench: Bench) => Promise<Pair<Measured>[]>,
  missing: () => string | undefined,
  goals: { many: Goal; one: Goal; cpu: Goal },
): Row[] {
  const [runMany, runOne] = [run(32), run(1)]
  const room = `a room of ${READERS} readers on ${on}`
  const row = { peer: 'ejabberd', unavailable: () => missing() ?? ejabberdMissing() }
  const rate = { ...row, unit: '/s', better: 'higher' } as const
  return [
    {
      ...rate,
      name: `${name}-32`,
      title: `posts delivered in ${room}, 32 under way`,
      ...goals.many,
      measure: async (bench) => roundsOf(await runMany(bench), perSecond),
    },
    {
      ...rate,
      name: `${name}-1`,
      title: `posts delivered in ${room}, 1 under way`,
      ...goals.one,
      measure: async (bench) => roundsOf(await runOne(bench), perSecond),
    },
    {
      ...row,
      name: `${name}-1-cpu`,
      title: `CPU of the service and its database per post in ${room}, 1 under way`,
      unit: 'µs',
      better: 'lower',
      ...goals.cpu,
      unavailable: () => row.unavailable() ?? processFiguresMissing(),
      measure: async (bench) => roundsOf(await runOne(bench), cpuMicros),
    },
  ]
}

const onSqlite = (window: number) => oncePerBench((bench) => measure(bench, window, newDatabase(), []))

/** The CPU of PostgreSQL counts: without it, the service could not answer. */
const onPostgres = (window: number) =>
  oncePerBench((bench) => withPostgres(async ({ pid, create }) => measure(bench, window, await create(), [pid])))

function measure(
  { rounds, seconds, command }: Bench,
  window: number,
  database: string,
  alsoCounted: number[],
): Promise<Pair<Measured>[]> {
  const load = { window, seconds }
  return withServers(openService(command, database), openEjabberd(), async (service, peer) => {
    const target = { ...service.target, pid: [service.target.pid, ...alsoCounted] }
    let posts = 0
    const pairs = await interleaveWarm(
      rounds,
      () => deliverTo(service.audience, target, load),
      async () => {
        const measured = await deliverTo(peer.audience, peer.target, load)
        posts += measured.count
        return measured
      },
    )
    const archived = peer.countArchived()
    if (archived < posts) throw new Error(`ejabberd has ${archived} of ${posts} posts in its archive`)
    return pairs
  })
}

async function openService(command: string[], database: string) {
  const { people, places } = await createPeople(database, READERS, [numbers(READERS)])
  const server = await startBareService(command, database)
  const post = postTemplate(`/api/messages/${places[0]!.root_id}/reply`, people[0]!.headers)
  const target = { pid: server.pid, port: server.port, post }
  return withAudience(server, target, people.map(allStream))
}

async function openEjabberd() {
  const server = await startEjabberd()
  const steps = numbers(READERS).map((n) => joinSteps(DOMAIN, ROOM, `reader-${n}`))
  const opened = await withAudience(server, ejabberdTarget(server), steps)
  return { ...opened, countArchived: server.countArchived }
}

/** The readers of a server, who stay for all rounds: who joins a room is shown to all others. */
async function withAudience<T>(
  server: { port: number; stop(): Promise<void> },
  target: T,
  openings: Parameters<typeof openAudience>[1],
) {
  try {
    const audience = await openAudience(server.port, openings)
    const stop = () => {
      audience.close()
      return server.stop()
    }
    return { target, audience, stop }
  } catch (error) {
    await server.stop()
    throw error
  }
}

export const rooms: Row[] = [
  ...rowsOf('room', 'SQLite', onSqlite, () => undefined, {
    many: { reach: 12, beyond: 20 },
    one: { reach: 2.5, beyond: 4 },
    cpu: { reach: 0.4, beyond: 0.25 },
  }),
  ...rowsOf('room-pg', 'PostgreSQL', onPostgres, postgresMissing, {
    many: { reach: 4, beyond: 8 },
    one: { reach: 1.2, beyond: 2 },
    cpu: { reach: 0.85, beyond: 0.5 },
  }),
]
