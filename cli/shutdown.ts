import { once } from 'node:events'
import type { Server, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

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

/** How long nothing must come in before the connections are closed: clients on open ones may be about to ask. */
const QUIET_MS = 300

/** After so long no new connection is taken, however busy it still is. */
const LAST_CALL_MS = 1_000

/**
 * Keeps count of the requests to `server`, so that it can be closed as soon as they have ended.
 *
 * Node's own idea of an idle connection leaves out those that a browser opens ahead of need: they would hold up the end.
 *
 * @returns what asks clients to leave with their next answer, waits until nothing has come in for a moment, or at most
 *   `graceMs`, takes no new connection, and closes all of them
 */
export function countRequests(server: Server): (graceMs?: number) => Promise<void> {
  const inFlight = new Set<ServerResponse>()
  let lastEnd = 0
  let closing = false
  server.on('request', (request, response) => {
    inFlight.add(response)
    // Requests may wait behind one another, as many as one likes to send: a listener for each is no leak.
    request.socket.setMaxListeners(0)
    if (closing) response.shouldKeepAlive = false
    const onEnd = () => {
      request.socket.off('close', onEnd)
      inFlight.delete(response)
      lastEnd = performance.now()
    }
    response.once('close', onEnd)
    // A response that waits behind another one of its connection has no end of its own.
    request.socket.once('close', onEnd)
  })
  return async (graceMs = DRAIN_MS) => {
    const closed = once(server, 'close')
    const started = performance.now()
    closing = true
    lastEnd = started
    for (const response of inFlight) if (!response.headersSent) response.shouldKeepAlive = false
    for (;;) {
      const now = performance.now()
      if (server.listening && now - started > LAST_CALL_MS) server.close()
      const isQuiet = inFlight.size === 0 && now - lastEnd > QUIET_MS
      if (isQuiet || now - started > graceMs) break
      await sleep(20)
    }
    if (server.listening) server.close()
    server.closeAllConnections()
    await closed
  }
}
