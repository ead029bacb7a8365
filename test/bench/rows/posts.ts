import { deliver } from '../load/deliver.ts'
import { perSecond } from '../load/measure.ts'
import { interleaveWarm, type Row } from '../row.ts'
import { expressTarget, startExpressChat } from '../servers/peers.ts'
import { serviceTarget, startService } from '../servers/service.ts'
import { withServers } from '../servers/with.ts'

const READERS = 100

function posts(window: number, goal: { reach: number; beyond: number }): Row {
  return {
    name: `posts-${window}`,
    title: `durable posts delivered to ${READERS} readers, ${window} under way`,
    unit: '/s',
    peer: 'express + socket.io',
    better: 'higher',
    ...goal,
    measure: ({ rounds, seconds, command }) =>
      withServers(startService(command), startExpressChat(), (service, express) => {
        const load = { readers: READERS, window, seconds }
        return interleaveWarm(
          rounds,
          async () => perSecond(await deliver(serviceTarget(service), load)),
          async () => perSecond(await deliver(expressTarget(express), load)),
        )
      }),
  }
}

export const posts32 = posts(32, { reach: 8, beyond: 15 })
export const posts1 = posts(1, { reach: 1.1, beyond: 1.3 })
