import { type DeliveryLoad, deliverTo } from '../load/deliver.ts'
import { cpuMicros, type Measured, perSecond } from '../load/measure.ts'
import { postTemplate } from '../load/template.ts'
import type { Until } from '../load/window.ts'
import { processFiguresMissing } from '../machine.ts'
import { type Bench, interleaveWarm, oncePerBench, type Pair, type Row, roundsOf } from '../row.ts'
import { centrifugo } from '../servers/centrifugo.ts'
import { postgresMissing, withPostgres } from '../servers/databases.ts'
import { ejabberd } from '../servers/ejabberd.ts'
import { createPeople, numbers } from '../servers/people.ts'
import { pocketbase } from '../servers/pocketbase.ts'
import { type OpenRoom, type RoomPeer, withAudience } from '../servers/room-peer.ts'
import { newDatabase, startBareService } from '../servers/service.ts'
import { withServers } from '../servers/with.ts'
import { allStream } from './many-streams.ts'

const READERS = 100

type Goal = Pick<Row, 'reach' | 'beyond'>

/** What is posted: replies to one message, or messages that each begin a thread, with two events. */
type Posts = 'posts' | 'new threads'

interface Compared {
  name: string
  peer: RoomPeer
  what: Posts
  /** The database of the service. */
  on: 'SQLite' | 'PostgreSQL'
  /** What a post under way waits for. */
  until?: Until
  goals: { many: Goal; one: Goal; cpu?: Goal }
}

/** A room of the service beside one of another server, with 32 posts under way and with one. */
function rowsOf({ name, peer, what, on, until = 'delivered', goals }: Compared): Row[] {
  const measured = (window: number) =>
    oncePerBench((bench) =>
      withDatabase[on]((database, pids) =>
        measure(bench, { peer, what, database, pids, load: { window, until, seconds: bench.seconds } }),
      ),
    )
  const [many, one] = [measured(32), measured(1)]
  const room = `a room of ${READERS} readers on ${on}`
  const missing = () => (on === 'PostgreSQL' ? postgresMissing() : undefined) ?? peer.missing()
  const row = { peer: peer.name, unavailable: missing }
  const rate = { ...row, unit: '/s', better: 'higher' } as const
  const rows: Row[] = [
    {
      ...rate,
      name: `${name}-32`,
      title: `${what} ${until} in ${room}, 32 under way`,
      ...goals.many,
      measure: async (bench) => roundsOf(await many(bench), perSecond),
    },
    {
      ...rate,
      name: `${name}-1`,
      title: `${what} ${until} in ${room}, 1 under way`,
      ...goals.one,
      measure: async (bench) => roundsOf(await one(bench), perSecond),
    },
  ]
  if (!goals.cpu) return rows
  return [
    ...rows,
    {
      ...row,
      name: `${name}-1-cpu`,
      title: `CPU of the service and its database per post in ${room}, 1 under way`,
      unit: 'µs',
      better: 'lower',
      ...goals.cpu,
      unavailable: () => missing() ?? processFiguresMissing(),
      measure: async (bench) => roundsOf(await one(bench), cpuMicros),
    },
  ]
}

/** Gives `work` a database, and the processes whose CPU counts because the service could not answer without them. */
type WithDatabase = <T>(work: (database: string, pids: number[]) => Promise<T>) => Promise<T>

const withDatabase: Record<Compared['on'], WithDatabase> = {
  SQLite: (work) => work(newDatabase(), []),
  PostgreSQL: (work) => withPostgres(async ({ pid, create }) => work(await create(), [pid])),
}

interface Measurement extends Pick<Compared, 'peer' | 'what'> {
  database: string
  pids: number[]
  load: Omit<DeliveryLoad, 'readers'>
}

function measure(
  { rounds, command }: Bench,
  { peer, what, database, pids, load }: Measurement,
): Promise<Pair<Measured>[]> {
  return withServers(openService(command, database, pids, what), peer.open(READERS), async (service, other) => {
    let posts = 0
    const pairs = await interleaveWarm(
      rounds,
      () => deliverTo(service.audience, service.target, load),
      async () => {
        const measured = await deliverTo(other.audience, other.target, load)
        posts += measured.count
        return measured
      },
    )
    const stored = await other.countStored()
    if (stored < posts) throw new Error(`${peer.name} has stored ${stored} of ${posts} posts`)
    return pairs
  })
}

async function openService(command: string[], database: string, pids: number[], what: Posts): Promise<OpenRoom> {
  const { people, places } = await createPeople(database, READERS, [numbers(READERS)])
  const { conversation_id, root_id } = places[0]!
  const server = await startBareService(command, database)
  const path = what === 'posts' ? `/api/messages/${root_id}/reply` : `/api/threads/${conversation_id}/root`
  const target = { pid: [server.pid, ...pids], port: server.port, post: postTemplate(path, people[0]!.headers) }
  return withAudience(server, target, people.map(allStream))
}

const AHEAD = { one: { reach: 1, beyond: 1.2 }, many: { reach: 1.5, beyond: 2 } }

/** A room of new threads, on both databases. */
const roots = (name: string, peer: RoomPeer, until?: Until): Row[] => [
  ...rowsOf({ name, peer, what: 'new threads', on: 'SQLite', until, goals: AHEAD }),
  ...rowsOf({ name: `${name}-pg`, peer, what: 'new threads', on: 'PostgreSQL', until, goals: AHEAD }),
]

export const rooms: Row[] = [
  ...rowsOf({
    name: 'room',
    peer: ejabberd,
    what: 'posts',
    on: 'SQLite',
    goals: {
      many: { reach: 12, beyond: 20 },
      one: { reach: 2.5, beyond: 4 },
      cpu: { reach: 0.4, beyond: 0.25 },
    },
  }),
  ...rowsOf({
    name: 'room-pg',
    peer: ejabberd,
    what: 'posts',
    on: 'PostgreSQL',
    goals: {
      many: { reach: 4, beyond: 8 },
      one: { reach: 1.2, beyond: 2 },
      cpu: { reach: 0.85, beyond: 0.5 },
    },
  }),
  ...roots('room-roots', ejabberd),
  ...roots('room-centrifugo', centrifugo),
  ...roots('room-centrifugo-acks', centrifugo, 'answered'),
  ...roots('room-pocketbase', pocketbase),
]
