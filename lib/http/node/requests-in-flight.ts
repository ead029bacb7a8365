import type { RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** The requests that a server has received and not yet answered in full. */
export interface InFlightTracker {
  /** Counts a request, and passes it to the handler: the listener for the server. */
  handle: RequestListener
  /** Makes the next response on each connection its last. */
  endKeepAlive(): void
  /** Keeps new requests waiting until `release`, which passes them to the handler. */
  hold(): void
  release(): void
  /** How many requests are in flight, the waiting ones included. */
  count(): number
  /** How many requests `hold` keeps waiting. */
  waiting(): number
  /** When the last request ended, by `performance.now()`. */
  lastEnd(): number
}

/**
 * Keeps track of the requests to `handler`, so that a server can be closed as soon as they have ended.
 *
 * Node's own idea of an idle connection excludes those that a browser opens ahead of need: they would delay the end.
 */
export function trackInFlight(handler: RequestListener): InFlightTracker {
  const inFlight = new Set<ServerResponse>()
  let lastEnd = 0
  const gate = createGate(handler)
  const keepAlive = createKeepAlive(inFlight)

  function add(response: ServerResponse): void {
    const { socket } = response.req
    inFlight.add(response)
    // Requests may wait one behind another, as many as a client sends: a listener for each is no leak.
    socket.setMaxListeners(0)
    const onEnd = () => {
      socket.off('close', onEnd)
      inFlight.delete(response)
      lastEnd = performance.now()
    }
    response.once('close', onEnd)
    // A response that waits behind another one of its connection does not emit 'close' itself.
    socket.once('close', onEnd)
  }

  return {
    handle(request, response) {
      keepAlive.add(response)
      add(response)
      gate.handle(request, response)
    },
    endKeepAlive: keepAlive.end,
    hold: gate.hold,
    release: gate.release,
    count: () => inFlight.size,
    waiting: gate.waiting,
    lastEnd: () => lastEnd,
  }
}

/** Decides which response is the last one of its connection. */
function createKeepAlive(inFlight: ReadonlySet<ServerResponse>) {
  /** The response that will be sent last on each connection: several requests may have arrived one behind another. */
  const lastOf = new WeakMap<Socket, ServerResponse>()
  let isEnding = false
  return {
    add(response: ServerResponse): void {
      const { socket } = response.req
      const before = lastOf.get(socket)
      lastOf.set(socket, response)
      if (!isEnding) return
      // The response that was to close the connection would leave this one unsent.
      if (before && inFlight.has(before) && !before.headersSent) before.shouldKeepAlive = true
      response.shouldKeepAlive = false
    },
    end(): void {
      isEnding = true
      for (const response of inFlight)
        if (lastOf.get(response.req.socket) === response && !response.headersSent) response.shouldKeepAlive = false
    },
  }
}

/** Passes requests to `handler`, unless they are held back. */
function createGate(handler: RequestListener) {
  let held: (() => void)[] | undefined
  const handle: RequestListener = (request, response) => {
    if (held) held.push(() => handler(request, response))
    else handler(request, response)
  }
  return {
    handle,
    hold(): void {
      held ??= []
    },
    release(): void {
      const waiting = held ?? []
      held = undefined
      for (const begin of waiting) begin()
    },
    waiting: () => held?.length ?? 0,
  }
}
