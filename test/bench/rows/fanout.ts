import { deliver } from '../load/deliver.ts'
import { cpuMicros, perSecond } from '../load/measure.ts'
import { processFiguresMissing } from '../machine.ts'
import { interleaveWarm, type Row } from '../row.ts'
import { nodeWriterTarget, startNodeWriter } from '../servers/peers.ts'
import { serviceTarget, startService } from '../servers/service.ts'
import { withServers } from '../servers/with.ts'

const READERS = 1000

/** One post at a time: what a write to one reader costs, with the post itself shared by all of them. */
export const fanoutCpu: Row = {
  name: 'fanout-cpu',
  title: `CPU per delivery, ${READERS} readers, 1 under way`,
  unit: 'µs',
  peer: 'node:http res.write',
  better: 'lower',
  reach: 1.15,
  beyond: 0.9,
  unavailable: processFiguresMissing,
  measure: ({ rounds, seconds, command }) =>
    withServers(startService(command), startNodeWriter(), (service, writer) => {
      const load = { readers: READERS, window: 1, seconds }
      return interleaveWarm(
        rounds,
        async () => cpuMicros(await deliver(serviceTarget(service), load), READERS),
        async () => cpuMicros(await deliver(nodeWriterTarget(writer), load), READERS),
      )
    }),
}

/** Several posts at a time: here a server gains that writes what belongs together at once. */
export const fanoutRate: Row = {
  name: 'fanout-rate',
  title: `deliveries to ${READERS} readers, 16 under way`,
  unit: '/s',
  peer: 'node:http res.write',
  better: 'higher',
  reach: 8,
  beyond: 12,
  measure: ({ rounds, seconds, command }) =>
    withServers(startService(command), startNodeWriter(), (service, writer) => {
      const load = { readers: READERS, window: 16, seconds }
      return interleaveWarm(
        rounds,
        async () => READERS * perSecond(await deliver(serviceTarget(service), load)),
        async () => READERS * perSecond(await deliver(nodeWriterTarget(writer), load)),
      )
    }),
}
