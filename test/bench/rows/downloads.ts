import { setTimeout as sleep } from 'node:timers/promises'
import { startReaders } from '../load/downloads.ts'
import { createFileClient } from '../load/files.ts'
import { processFiguresMissing, residentBytes } from '../machine.ts'
import { type Bench, oncePerBench, type Row } from '../row.ts'
import type { Service } from '../servers/service.ts'
import { MIB, sizeFor, withFiles } from './files.ts'

const READERS = 100
const BYTES_PER_SECOND = 1_000_000

/** Less of the rate: the readers, or the service, do not keep up, and the figures prove nothing. */
const MIN_SHARE = 0.9

/** The buffers of the sockets are filled at the beginning, faster than any reader reads. */
const WARM_UP_MS = 2_000

const LOOK_MS = 20

/** What readers cost. */
interface Cost {
  /** Growth of resident memory for each reader. */
  bytes: number
  /** 99th percentile of the lag of the event loop of the service. */
  lag_ms: number
}

const measureReaders = oncePerBench((bench: Bench) =>
  withFiles(bench, async (service) => {
    const id = await createFileClient(service).upload(sizeFor(bench))
    const costs: Cost[] = []
    for (let round = 0; round < Math.min(bench.rounds, 3); round++) costs.push(await measureRound(service, bench, id))
    return costs
  }),
)

async function measureRound(service: Service, { seconds }: Bench, id: string): Promise<Cost> {
  const rest = residentBytes(service.pid)
  let most = rest
  const look = setInterval(() => {
    most = Math.max(most, residentBytes(service.pid))
  }, LOOK_MS)
  const readers = await startReaders(service, { id, count: READERS, bytes_per_second: BYTES_PER_SECOND })
  try {
    await sleep(WARM_UP_MS)
    await lagOf(service)
    const [began, before] = [performance.now(), readers.bytes()]
    await sleep(Math.max(seconds, 3) * 1000)
    const share = (readers.bytes() - before) / (READERS * BYTES_PER_SECOND * ((performance.now() - began) / 1000))
    if (share < MIN_SHARE) throw new Error(`the readers got ${Math.round(share * 100)} % of their rate`)
    return { bytes: (most - rest) / READERS, lag_ms: await lagOf(service) }
  } finally {
    clearInterval(look)
    readers.stop()
  }
}

/** @returns the 99th percentile since the last call, in milliseconds */
async function lagOf({ port }: Service): Promise<number> {
  const page = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  const lag = /^nodejs_eventloop_lag_p99_seconds(?:\{.*\})? (\S+)$/m.exec(page)?.[1]
  if (lag === undefined) throw new Error('/metrics has no lag of the event loop')
  return Number(lag) * 1000
}

export const downloads: Row[] = [
  {
    name: 'downloads',
    title: `resident memory for each of ${READERS} readers of 1 MB/s of a file of 1 GiB`,
    unit: 'MiB',
    better: 'lower',
    reach: 10,
    beyond: 5,
    unavailable: processFiguresMissing,
    measure: async (bench) => (await measureReaders(bench)).map(({ bytes }) => ({ service: bytes / MIB })),
  },
  {
    name: 'downloads-lag',
    title: '99th percentile of the lag of the event loop meanwhile',
    unit: 'ms',
    better: 'lower',
    reach: 20,
    beyond: 10,
    unavailable: processFiguresMissing,
    measure: async (bench) => (await measureReaders(bench)).map(({ lag_ms }) => ({ service: lag_ms })),
  },
]
