import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** How often in a row an answer is found where it was before its connection is closed. */
const LOOKS = 6

/** The latest answer on a connection, how far it was at the last look, and at how many looks it was there. */
interface Waiting {
  response: ServerResponse
  state: string | undefined
  looks: number
}

/** Closes connections that take nothing of an answer. */
export type StallWatch = ReturnType<typeof createStallWatch>

/**
 * Watches the connections that are answered, and closes those that have taken nothing for so long while an answer waits:
 * what waits is memory of ours. Who takes something, however little, may take its time.
 *
 * Nothing is done for an answer but to note its connection; every few seconds all of them are looked at.
 */
export function createStallWatch(seconds: number) {
  const waiting = new Map<Socket, Waiting>()
  let timer: NodeJS.Timeout | undefined

  function look(): void {
    for (const [socket, each] of waiting) {
      const state = stateOf(socket)
      // Looks, not time: a process that was busy for long has given nobody a chance to take anything.
      each.looks = state !== undefined && state === each.state ? each.looks + 1 : 0
      each.state = state
      if (socket.destroyed || (state === undefined && each.response.writableFinished)) waiting.delete(socket)
      else if (each.looks >= LOOKS) socket.destroy()
    }
    if (waiting.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  return {
    /** An answer goes out on this response. */
    watch(response: ServerResponse): void {
      const { socket } = response
      // Of HTTP/2 a connection carries many at once, and has a flow control of its own.
      if (!socket || response.req.httpVersionMajor !== 1) return
      const known = waiting.get(socket)
      if (known) known.response = response
      else waiting.set(socket, { response, state: undefined, looks: 0 })
      timer ??= setInterval(look, (seconds * 1000) / LOOKS).unref()
    },
  }
}

/** How far a connection has got with what was written to it; `undefined` when nothing waits. */
function stateOf(socket: Socket): string | undefined {
  // Of a long write the stream knows only that it is not over. What the system has not taken of it, the handle knows.
  const { _handle } = socket as Socket & { _handle?: { writeQueueSize?: number } | null }
  const queued = _handle?.writeQueueSize ?? 0
  if (socket.writableLength === 0 && queued === 0) return undefined
  return `${socket.bytesWritten} ${socket.writableLength} ${queued}`
}

/**
 * Resolves when it is this response's turn: requests that a client sends without waiting are answered one by one. Other
 * connections come in between: what the system takes of an answer at once would otherwise begin the next one before
 * anything else is read, and a thousand such requests hold the process until all are answered.
 */
export function turnOf(response: ServerResponse | undefined): Promise<void> | undefined {
  if (!response || response.socket !== null || response.destroyed || response.req.socket.destroyed) return undefined
  return new Promise((resolve) => response.once('socket', () => setImmediate(resolve)))
}
