import { once } from 'node:events'
import type { Server } from 'node:http'
import { Server as NetServer } from 'node:net'
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import type { InFlightTracker } from './requests-in-flight.ts'

/** How long requests in flight may take to end: under the ten seconds that most supervisors wait before they kill. */
export const DRAIN_SECONDS = 8

/** How long no request must be in flight before the connections are closed: clients on open ones may be about to ask. */
const QUIET_MS = 300

/** After this time the port is closed, even if requests are in flight all the time. */
const LAST_CALL_MS = 1_000

/** A client that got a response may be about to connect again. */
const STILL_MS = 50

/** How long new requests may wait for the port to be closed. */
const HOLD_MS = 1_000

/**
 * Closes a server without cutting off a request: ends keep-alive, waits until no request has been in flight for a
 * moment, or at most `drainSeconds`, closes the port, then the connections.
 *
 * @param requests tracks what `server` handles
 */
export async function closeGracefully(
  server: Server,
  requests: InFlightTracker,
  drainSeconds = DRAIN_SECONDS,
): Promise<void> {
  const closed = once(server, 'close')
  const started = performance.now()
  // A proxy that has just connected is about to ask.
  let lastConnection = started
  server.on('connection', () => {
    lastConnection = performance.now()
  })
  requests.endKeepAlive()
  const isQuiet = () =>
    requests.count() === 0 && performance.now() - Math.max(lastConnection, requests.lastEnd()) > QUIET_MS
  for (;;) {
    const age = performance.now() - started
    if (server.listening && (age > LAST_CALL_MS || isQuiet())) await closePort(server, requests)
    // Between the pause and this turn, what has come in is read.
    await turn()
    if (isQuiet() || age > drainSeconds * 1000) break
    await sleep(20)
  }
  if (server.listening) await closePort(server, requests)
  server.closeAllConnections()
  await closed
}

/**
 * Closes the port at a moment when every connection has been accepted: the system resets the others, with what they
 * have sent. Under load such a moment exists only while new requests wait.
 */
async function closePort(server: Server, requests: InFlightTracker): Promise<void> {
  const started = performance.now()
  let lastConnection = started
  server.on('connection', () => {
    lastConnection = performance.now()
  })
  requests.hold()
  for (;;) {
    // What came before this turn is taken in it.
    await turn()
    const now = performance.now()
    const lastActivity = Math.max(lastConnection, requests.lastEnd())
    const isStill = requests.count() === requests.waiting() && now - lastActivity > STILL_MS
    if (isStill || now - started > HOLD_MS) break
  }
  // `Server.close` of HTTP would also close the connections without a request, on which one may be on its way.
  // In Bun, a server of HTTP is none of `node:net`.
  const { close }: Pick<NetServer, 'close'> = server instanceof NetServer ? NetServer.prototype : server
  close.call(server)
  requests.release()
}
