import { cpuMicros } from '../load/measure.ts'
import { repeatRequest } from '../load/requests.ts'
import { type Bench, interleaveWarm, type Row, roundsOf } from '../row.ts'
import { onEachDatabase } from '../servers/each-database.ts'

/** Sent over and over: these requests in turn, or the next one that the function returns. */
export type Repeated = string[] | (() => string)

/**
 * The CPU of requests, that of the database included, against the CPU of others to the same service.
 *
 * @param more of the service's environment
 */
export function compareCpu(
  row: Pick<Row, 'name' | 'title' | 'reach' | 'beyond'> & { peer: string },
  connections: number,
  prepare: (database: string, bench: Bench) => Promise<{ service: Repeated; peer: Repeated }>,
  more: NodeJS.ProcessEnv = {},
): Row[] {
  const each = onEachDatabase(async (database, bench) => {
    const { service, peer } = await prepare(database, bench)
    return async (target) => {
      const send = (requests: Repeated) => repeatRequest({ ...target, requests }, connections, bench.seconds)
      const pairs = await interleaveWarm(
        bench.rounds,
        () => send(service),
        () => send(peer),
      )
      return roundsOf(pairs, cpuMicros)
    }
  }, more)
  return each.map(({ suffix, on, ...measured }) => ({
    ...row,
    name: row.name + suffix,
    title: row.title + on,
    unit: 'µs',
    better: 'lower',
    ...measured,
  }))
}
