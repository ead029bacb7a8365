import { setTimeout as sleep } from 'node:timers/promises'
import { contextOf } from '../../../lib/core/context-of.ts'
import { fillApprovals } from '../filled/approvals.ts'
import { httpRequest } from '../load/http.ts'
import { perSecond } from '../load/measure.ts'
import { repeatRequest } from '../load/requests.ts'
import { postContent } from '../load/template.ts'
import { cpuSeconds, residentBytes } from '../machine.ts'
import { type Bench, interleaveWarm, oncePerBench, type Pair, type Row, roundsOf } from '../row.ts'
import { DATABASES } from '../servers/each-database.ts'
import { createPeople, numbers, type Person, type Place, withChat } from '../servers/people.ts'
import { startBareService } from '../servers/service.ts'
import { ready } from './start.ts'

const ANSWERS = 1_000

/** Posts at a time. */
const IN_PROGRESS = 8

/** A process after its start: what it begins with is over. */
const START_MS = 3_000

/** CPU is counted in hundredths of a second, and jobs run at intervals of seconds. */
const LEAST_IDLE_SECONDS = 10

/** What a service costs that was just started, and then is idle, and then gets posts. */
interface Costs {
  start_ms: number
  memory: number
  /** CPU of a second without any request, in milliseconds. */
  idle_ms: number
  posts: number
}

/** Where a service runs, and who posts. */
interface Filled {
  database: string
  pids: number[]
  person: Person
  place: Place
}

/** Fills a database with conversations of a user, with an answer in each that waits for participants, or without. */
async function fill(database: string, pids: number[], isWaiting: boolean): Promise<Filled> {
  const { people, places } = await createPeople(
    database,
    1,
    numbers(ANSWERS + 1).map(() => [0]),
  )
  const [place, ...rest] = places
  const rooms = rest.map(({ conversation_id }) => conversation_id)
  const asker = people[0]!.user_id
  if (isWaiting) await withChat(database, (chat) => fillApprovals(contextOf(chat).db, { rooms, calls: 1, asker }))
  return { database, pids, person: people[0]!, place: place! }
}

async function costsOf({ command, seconds }: Bench, { database, pids, person, place }: Filled): Promise<Costs> {
  const began = performance.now()
  const service = await startBareService(command, database)
  try {
    await ready(service)
    const start_ms = performance.now() - began
    await sleep(START_MS)
    const memory = residentBytes(service.pid)
    const processes = [service.pid, ...pids]
    const cpu = () => processes.reduce((sum, pid) => sum + cpuSeconds(pid), 0)
    const idle = Math.max(seconds, LEAST_IDLE_SECONDS)
    const before = cpu()
    await sleep(idle * 1000)
    const idle_ms = ((cpu() - before) * 1000) / idle
    const { headers } = person
    const post = httpRequest('POST', `/api/messages/${place.root_id}/reply`, {
      headers,
      body: { content: postContent(0) },
    })
    const target = { pid: processes, port: service.port, requests: [post] }
    const posts = perSecond(await repeatRequest(target, IN_PROGRESS, seconds))
    return { start_ms, memory, idle_ms, posts }
  } finally {
    await service.stop()
  }
}

const what = `${ANSWERS.toLocaleString('en-US')} answers that wait for participants`

const FIGURES: (Omit<Row, 'measure' | 'unavailable' | 'peer'> & { figure: (costs: Costs) => number })[] = [
  {
    name: 'waiting-idle',
    title: `CPU of an idle second with ${what}`,
    unit: 'ms',
    better: 'lower',
    reach: 1.1,
    beyond: 1.02,
    figure: ({ idle_ms }) => idle_ms,
  },
  {
    name: 'waiting-memory',
    title: `resident memory, idle, with ${what}`,
    unit: 'MiB',
    better: 'lower',
    reach: 1.1,
    beyond: 1.02,
    figure: ({ memory }) => memory / 2 ** 20,
  },
  {
    name: 'waiting-start',
    title: `start to /readyz 200 with ${what}`,
    unit: 'ms',
    better: 'lower',
    reach: 1.1,
    beyond: 1.02,
    figure: ({ start_ms }) => start_ms,
  },
  {
    name: 'waiting-posts',
    title: `durable posts, ${IN_PROGRESS} in progress, beside ${what}`,
    unit: '/s',
    better: 'higher',
    reach: 0.9,
    beyond: 0.98,
    figure: ({ posts }) => posts,
  },
]

/** What answers cost while participants decide: no process, lease or timer is theirs. */
export const waitingAnswers: Row[] = DATABASES.flatMap(({ suffix, on, unavailable, open }) => {
  const once = oncePerBench((bench) =>
    open((database, pids) =>
      open(async (other, otherPids): Promise<Pair<Costs>[]> => {
        const filled = await fill(database, pids, true)
        const empty = await fill(other, otherPids, false)
        return interleaveWarm(
          bench.rounds,
          () => costsOf(bench, filled),
          () => costsOf(bench, empty),
        )
      }),
    ),
  )
  return FIGURES.map(({ figure, ...row }) => ({
    ...row,
    name: row.name + suffix,
    title: row.title + on,
    peer: 'none that waits',
    unavailable,
    measure: async (bench) => roundsOf(await once(bench), figure),
  }))
})
