import { inconsistenciesIn } from '../invariants.ts'
import { startLoad, waitUntil } from './load.ts'
import { type Serving, serve } from './serving.ts'
import type { Figures } from './stage.ts'
import { attach, whyNoStrace } from './strace.ts'

/** The maximum number of posts until a system call counts as never made. */
const POSTS = 100

/**
 * Makes the N-th write, or sync, of a SQLite file fail for each N in turn, kills the service at that point, and starts
 * it again.
 *
 * @returns the result, or the reason why the fault cannot be injected here
 */
export async function failEachCall(file: string, calls: 'pwrite64' | 'fsync', upTo: number): Promise<Figures | string> {
  const missing = whyNoStrace()
  if (missing) return missing
  const url = `sqlite:${file}`
  let server: Serving = await serve(url)
  const faults: string[] = []
  let recovered_ms = 0
  try {
    const load = await startLoad(server.base_url)
    for (let nth = 1; nth <= upTo && faults.length === 0; nth++) {
      await load.successes(2)
      const [failures, successes] = [load.failures(), load.acknowledged.size]
      const how = [file, `${file}-wal`].flatMap((path) => ['-P', path])
      const detach = await attach(server.pid, [
        ...how,
        '-e',
        `inject=${calls}:error=EIO:when=${nth}`,
        '-o',
        '/dev/null',
      ])
      await waitUntil('a call fails', () => load.failures() > failures || load.acknowledged.size > successes + POSTS)
      await server.kill()
      await detach()
      faults.push(...(await inconsistenciesIn(url)).map((fault) => `${calls} ${nth}: ${fault}`))
      const started = performance.now()
      server = await serve(url, server.port)
      await load.successes()
      recovered_ms = Math.max(recovered_ms, performance.now() - started)
    }
    const wrong = await load.finish({ restarted: true })
    return {
      fault: `${calls} 1 to ${upTo} fails, killed there`,
      database: 'sqlite',
      cycles: upTo,
      acknowledged: load.acknowledged.size,
      lost: wrong.length,
      seen: [...load.failed.keys()].filter((answer) => !answer.startsWith('no answer')),
      reads: 'killed',
      recovered_ms,
      stall_ms: 0,
      faults: [...faults, ...wrong],
    }
  } finally {
    if (server.isAlive()) await server.kill()
  }
}
