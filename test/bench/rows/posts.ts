import { deliver } from '../load/deliver.ts'
import { perSecond } from '../load/measure.ts'
import { interleaveWarm, type Row } from '../row.ts'
import { expressTarget, startExpressChat } from '../servers/peers.ts'
import { rootsTarget, serviceTarget, startService } from '../servers/service.ts'
import { withServers } from '../servers/with.ts'

const READERS = 100

interface Posts {
  name: string
  what: string
  window: number
  targetOf: typeof serviceTarget
}

function posts({ name, what, window, targetOf }: Posts, goal: { reach: number; beyond: number }): Row {
  return {
    name,
    title: `durable ${what} delivered to ${READERS} readers, ${window} under way`,
    unit: '/s',
    peer: 'express + socket.io',
    better: 'higher',
    ...goal,
    measure: ({ rounds, seconds, command }) =>
      withServers(startService(command), startExpressChat(), (service, express) => {
        const load = { readers: READERS, window, seconds }
        return interleaveWarm(
          rounds,
          async () => perSecond(await deliver(targetOf(service), load)),
          async () => perSecond(await deliver(expressTarget(express), load)),
        )
      }),
  }
}

const REPLIES = { what: 'posts', targetOf: serviceTarget }

export const posts32 = posts({ ...REPLIES, name: 'posts-32', window: 32 }, { reach: 8, beyond: 15 })
export const posts1 = posts({ ...REPLIES, name: 'posts-1', window: 1 }, { reach: 1.1, beyond: 1.3 })

/** Each post starts a thread: two events, and a row of the list of threads. */
export const postsRoots32 = posts(
  { name: 'posts-roots-32', what: 'new threads', window: 32, targetOf: rootsTarget },
  { reach: 8, beyond: 15 },
)
