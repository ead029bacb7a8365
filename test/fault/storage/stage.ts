import { setTimeout as sleep } from 'node:timers/promises'
import { inconsistenciesIn } from '../invariants.ts'
import { startLoad, waitUntil } from './load.ts'
import { type Serving, serve } from './serving.ts'

/** A temporary fault of the storage under a running service. */
export interface Fault {
  name: string
  /** Starts it. @returns a function that ends it */
  begin(service: Serving): Promise<() => Promise<void> | void>
  /** The failures that posts may have meanwhile. */
  answers: string[]
  /** Whether reads continue. */
  reads: boolean
  /** Whether `/readyz` still reports the service as ready: it checks reads. */
  ready: boolean
  /** How long it lasts after the first failed post. Default 300 ms. */
  lasts_ms?: number
}

/** The result of a fault. */
export interface Figures {
  fault: string
  database: string
  cycles: number
  acknowledged: number
  lost: number
  /** The failures of posts. */
  seen: string[]
  reads: string
  /** The longest time from its end to the first acknowledged post. */
  recovered_ms: number
  /** The longest delay of another request by a busy process. */
  stall_ms: number
  /** Failures, as texts. */
  faults: string[]
}

/** The number of posts before each fault. */
const POSTS = 50

/** Runs a service under load, and injects a fault. */
export async function endure(
  fault: Fault,
  { database, url, cycles, env }: { database: string; url: string; cycles: number; env?: Record<string, string> },
): Promise<Figures> {
  const server = await serve(url, 0, env)
  const faults: string[] = []
  let [recovered_ms, stall_ms] = [0, 0]
  try {
    const load = await startLoad(server.base_url)
    for (let cycle = 0; cycle < cycles; cycle++) {
      await load.successes(POSTS)
      load.stall()
      const before = load.failures()
      const end = await fault.begin(server)
      try {
        await waitUntil('a post fails', () => load.failures() > before)
        await waitUntil('readiness tells of it', async () => (await load.isReady()) === fault.ready)
        await sleep(fault.lasts_ms ?? 300)
      } finally {
        await end()
      }
      recovered_ms = Math.max(recovered_ms, await load.successes())
      stall_ms = Math.max(stall_ms, load.stall())
      await waitUntil('it is ready again', load.isReady)
    }
    const wrong = await load.finish()
    const seen = [...load.failed.keys()]
    faults.push(
      ...wrong,
      ...seen.filter((answer) => !fault.answers.includes(answer)).map((answer) => `a post was answered ${answer}`),
      ...(fault.reads ? [...load.unread.keys()].map((answer) => `a read was answered ${answer}`) : []),
      ...[...load.unread.keys()].filter((answer) => !answer.startsWith('503 ')).map((answer) => `a read: ${answer}`),
    )
    const code = server.isAlive() ? await server.stop() : 'a crash'
    if (code !== 0) faults.push(`the service ended with ${code}: ${server.log().slice(-500)}`)
    faults.push(...(await inconsistenciesIn(url)))
    return {
      fault: fault.name,
      database,
      cycles,
      acknowledged: load.acknowledged.size,
      lost: wrong.length,
      seen,
      reads: load.unread.size === 0 ? 'go on' : [...load.unread.keys()].join(', '),
      recovered_ms,
      stall_ms,
      faults,
    }
  } finally {
    if (server.isAlive()) await server.kill()
  }
}
