import { p99, timeBursts } from '../load/latency.ts'
import { marker } from '../load/marker.ts'
import { connectionsMissing } from '../machine.ts'
import { type Bench, interleaveWarm, median, oncePerBench, type Row, roundsOf } from '../row.ts'
import { startProgram } from '../servers/child.ts'
import { DATABASES } from '../servers/each-database.ts'
import { rootsTarget, type Service, startService } from '../servers/service.ts'

const AUDIENCES = [100, 1_000] as const

const WINDOWS = [1, 32] as const

/** How long a post waits for its response, in a conversation with readers against the same without. */
export const ackReaders: Row[] = DATABASES.flatMap(({ suffix, on, unavailable, open }) =>
  AUDIENCES.flatMap((readers) =>
    WINDOWS.flatMap((window) => {
      const measure = oncePerBench((bench) =>
        open(async (database) => {
          const service = await startService(bench.command, {}, database)
          try {
            return await compare(service, { readers, window }, bench)
          } finally {
            await service.stop()
          }
        }),
      )
      const row = (name: string, what: string, figure: (times: number[]) => number, reach: number): Row => ({
        name: `ack-${readers}-${window}${name}${suffix}`,
        title: `${what} of the response to a new thread, ${readers} readers, ${window} under way${on}`,
        unit: 'ms',
        peer: 'no reader',
        better: 'lower',
        reach,
        beyond: 1,
        unavailable: (bench) => unavailable(bench) ?? connectionsMissing(readers),
        measure: async (bench) => roundsOf(await measure(bench), figure),
      })
      return [row('', 'median', median, 1.1), row('-p99', '99th percentile', p99, 1.5)]
    }),
  ),
)

function compare(service: Service, { readers, window }: { readers: number; window: number }, bench: Bench) {
  const target = rootsTarget(service)
  const request = target.post.join(marker(0))
  const times = () => timeBursts({ port: service.port, request }, window, bench.seconds)
  return interleaveWarm(
    bench.rounds,
    async () => {
      const [{ send, until }] = target.steps as [{ send: string; until: string }]
      const args = ['--import', 'tsx', 'test/bench/load/listeners.ts', `${service.port}`, `${readers}`, send, until]
      const listeners = await startProgram(process.execPath, args, {}, async (output) =>
        output().includes('All read') ? service.port : undefined,
      )
      try {
        return await times()
      } finally {
        await listeners.stop()
      }
    },
    times,
  )
}
