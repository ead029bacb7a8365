import { once } from 'node:events'
import type { RequestListener, Server, ServerResponse } from 'node:http'
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

/** Who got an answer may be about to connect again. */
const STILL_MS = 50

/** How long new requests may wait for the port to be closed. */
const HOLD_MS = 1_000

/** How a server comes to its end without cutting anybody off. */
export interface Departure {
  /** The handler, each request counted: what the server is to be made with. */
  handle: RequestListener
  /** Has clients leave: the next answer on each connection is its last. */
  dismiss(): void
  /**
   * Dismisses, waits until nothing has come in for a moment, or at most `graceMs`, takes no new connection, and closes
   * all of them.
   */
  close(server: Server, graceMs?: number): Promise<void>
}

/**
 * Keeps count of the requests to `handler`, so that its server can be closed as soon as they have ended.
 *
 * Node's own idea of an idle connection leaves out those that a browser opens ahead of need: they would hold up the end.
 */
export function createDeparture(handler: RequestListener): Departure {
  const inFlight = new Set<ServerResponse>()
  /** Of each connection, the answer that will be given last: several requests may have come behind one another. */
  const lastOf = new WeakMap<Socket, ServerResponse>()
  let held: (() => void)[] | undefined
  let lastEnd = 0
  let closing = false

  const handle: RequestListener = (request, response) => {
    const { socket } = request
    const before = lastOf.get(socket)
    inFlight.add(response)
    // Requests may wait behind one another, as many as one likes to send: a listener for each is no leak.
    socket.setMaxListeners(0)
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
    if (held) held.push(() => handler(request, response))
    else handler(request, response)
  }

  function dismiss(): void {
    closing = true
    for (const response of inFlight) {
      if (lastOf.get(response.req.socket) === response && !response.headersSent) response.shouldKeepAlive = false
    }
  }

  /**
   * Closes the port, at a moment when everybody who has connected was taken: the system resets the others, with what
   * they have sent. Under load there is such a moment only while the work waits.
   */
  async function stopListening(server: Server): Promise<void> {
    const started = performance.now()
    const waiting: (() => void)[] = []
    held = waiting
    let lastConnection = started
    server.on('connection', () => (lastConnection = performance.now()))
    for (;;) {
      // What came before this turn is taken in it.
      await turn()
      const now = performance.now()
      const isStill = inFlight.size === waiting.length && now - Math.max(lastConnection, lastEnd) > STILL_MS
      if (isStill || now - started > HOLD_MS) break
    }
    // `Server.close` of HTTP would also close the connections without a request, on which one may be on its way.
    NetServer.prototype.close.call(server)
    held = undefined
    for (const begin of waiting) begin()
  }

  async function close(server: Server, graceMs = DRAIN_MS): Promise<void> {
    const closed = once(server, 'close')
    const started = performance.now()
    dismiss()
    lastEnd = started
    const isQuiet = () => inFlight.size === 0 && performance.now() - lastEnd > QUIET_MS
    for (;;) {
      const age = performance.now() - started
      if (server.listening && (age > LAST_CALL_MS || isQuiet())) await stopListening(server)
      // Between the pause and this turn, what has come in is read.
      await turn()
      if (isQuiet() || age > graceMs) break
      await sleep(20)
    }
    if (server.listening) await stopListening(server)
    server.closeAllConnections()
    await closed
  }

  return { handle, dismiss, close }
}
