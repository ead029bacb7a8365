/**
 * Connects many slow clients to the service, and measures how it serves the others meanwhile. Needs slowhttptest.
 *
 * `tsx test/fault/slow.ts [connections] [seconds]`
 */
import { onDatabases } from './databases.ts'
import { KINDS, slowDown } from './slowness.ts'

/** The maximum time of 99 of a hundred calls. */
const P99_MS = 250

const [connections = '1000', seconds = '60'] = process.argv.slice(2)

await onDatabases('sqlite', async ({ url }) => {
  for (const kind of KINDS) {
    const { available, calls, failed, p99, cut } = await slowDown({
      url,
      kind,
      connections: Number(connections),
      seconds: Number(seconds),
    })
    console.log(
      `${kind}: ${connections} connections for ${seconds} s, ${cut} of them cut off; service available: ` +
        `${available ? 'yes' : 'no'}; ${calls} calls of /healthz, ${failed} failed, p99 ${p99.toFixed(0)} ms`,
    )
    if (!available || failed > 0 || p99 > P99_MS) process.exitCode = 1
  }
})
