import { EventEmitter, once } from 'node:events'
import type { Server } from 'node:http'

/** How long requests in flight may take to end: under the ten seconds that most supervisors wait before they kill. */
const DRAIN_MS = 8_000

/** Settles with the first SIGTERM or SIGINT. Who sends a second one wants out: the process ends at once. */
export function firstSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let asked = false
    const onSignal = (signal: NodeJS.Signals) => {
      if (asked) process.exit(130)
      asked = true
      resolve(signal)
    }
    process.on('SIGTERM', onSignal).on('SIGINT', onSignal)
  })
}

/**
 * Keeps count of the requests to `server`, so that it can be closed as soon as they have ended.
 *
 * Node's own idea of an idle connection leaves out those that a browser opens ahead of need: they would hold up the end.
 *
 * @returns what takes no new connection, waits at most `graceMs` for the requests in flight, and closes all of them
 */
export function countRequests(server: Server): (graceMs?: number) => Promise<void> {
  const inFlight = new EventEmitter()
  let count = 0
  server.on('request', (_request, response) => {
    count++
    response.once('close', () => {
      count--
      if (count === 0) inFlight.emit('none')
    })
  })
  return async (graceMs = DRAIN_MS) => {
    const closed = once(server, 'close')
    server.close()
    const signal = AbortSignal.timeout(graceMs)
    if (count > 0) await once(inFlight, 'none', { signal }).catch(() => {})
    server.closeAllConnections()
    await closed
  }
}
