import { setTimeout as sleep } from 'node:timers/promises'
import { processFiguresMissing, residentBytes } from '../machine.ts'
import type { Bench, Round, Row } from '../row.ts'
import type { Server } from '../servers/child.ts'
import { newDatabase, startBareService } from '../servers/service.ts'

/** What a service does right after its start is over by then. */
const SETTLE_MS = 2000

const READY_POLL_MS = 2

/** From the start of the process to the first request it would serve; the schema exists. */
export const start: Row = {
  name: 'start',
  title: 'start on an existing database to /readyz 200',
  unit: 'ms',
  better: 'lower',
  reach: 700,
  beyond: 400,
  measure: (bench) =>
    starts(bench, async (begin) => {
      const started = performance.now()
      await ready(await begin())
      return performance.now() - started
    }),
}

export const idleMemory: Row = {
  name: 'idle-memory',
  title: 'resident memory, idle, no stream',
  unit: 'MiB',
  better: 'lower',
  reach: 100,
  beyond: 75,
  unavailable: processFiguresMissing,
  measure: (bench) =>
    starts(bench, async (begin) => {
      const server = await begin()
      await ready(server)
      await sleep(SETTLE_MS)
      return residentBytes(server.pid) / 2 ** 20
    }),
}

/** Starts the service anew for every round, on one database that the first, unmeasured start creates. */
async function starts(
  { rounds, command }: Bench,
  measure: (begin: () => Promise<Server>) => Promise<number>,
): Promise<Round[]> {
  const database = newDatabase()
  const results: Round[] = []
  for (let round = -1; round < rounds; round++) {
    let server: Server | undefined
    const begin = async () => {
      server = await startBareService(command, database)
      return server
    }
    try {
      const service = await measure(begin)
      if (round >= 0) results.push({ service })
    } finally {
      await server?.stop()
    }
  }
  return results
}

/** Resolves when the service would take requests. */
export async function ready({ port }: Server): Promise<void> {
  for (;;) {
    const response = await fetch(`http://127.0.0.1:${port}/readyz`)
    await response.text()
    if (response.ok) return
    if (response.status !== 503) throw new Error(`/readyz was answered ${response.status}`)
    await sleep(READY_POLL_MS)
  }
}
