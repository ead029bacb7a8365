import { once } from 'node:events'
import type { Server, ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'

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

/** How a server comes to its end without cutting anybody off. */
export interface Departure {
  /** Has clients leave: the next answer on each connection is its last. */
  dismiss(): void
  /**
   * Dismisses, waits until nothing has come in for a moment, or at most `graceMs`, takes no new connection, and closes
   * all of them.
   */
  close(graceMs?: number): Promise<void>
}

/**
 * Keeps count of the requests to `server`, so that it can be closed as soon as they have ended.
 *
 * Node's own idea of an idle connection leaves out those that a browser opens ahead of need: they would hold up the end.
 */
export function countRequests(server: Server): Departure {
  const inFlight = new Set<ServerResponse>()
  /** Of each connection, the answer that will be given last: several requests may have come behind one another. */
  const lastOf = new WeakMap<Socket, ServerResponse>()
  let lastEnd = 0
  let closing = false
  server.on('request', ({ socket }, response) => {
    inFlight.add(response)
    // Requests may wait behind one another, as many as one likes to send: a listener for each is no leak.
    socket.setMaxListeners(0)
    const before = lastOf.get(socket)
    lastOf.set(socket, response)
    if (closing) {
      // The one that is to close the connection would leave this one without an answer.
      if (before && inFlight.has(before) && !before.headersSent) before.shouldKeepAlive = true
      response.shouldKeepAlive = false
    }
    const onEnd = () => {
      socket.off('close', onEnd)
      inFlight.delete(response)
      lastEnd = performance.now()
    }
    response.once('close', onEnd)
    // A response that waits behind another one of its connection has no end of its own.
    socket.once('close', onEnd)
  })

  function dismiss(): void {
    closing = true
    for (const response of inFlight) {
      if (lastOf.get(response.req.socket) === response && !response.headersSent) response.shouldKeepAlive = false
    }
  }

  /** `Server.close` of HTTP would also close the connections without a request, on which one may be on its way. */
  async function stopListening(): Promise<void> {
    // Right after what had come in was taken: who has connected and is not yet taken would be reset.
    await turn()
    NetServer.prototype.close.call(server)
  }

  return {
    dismiss,
    async close(graceMs = DRAIN_MS) {
      const closed = once(server, 'close')
      const started = performance.now()
      dismiss()
      lastEnd = started
      for (;;) {
        const now = performance.now()
        if (server.listening && now - started > LAST_CALL_MS) await stopListening()
        const isQuiet = inFlight.size === 0 && now - lastEnd > QUIET_MS
        if (isQuiet || now - started > graceMs) break
        await sleep(20)
      }
      if (server.listening) await stopListening()
      server.closeAllConnections()
      await closed
    },
  }
}
