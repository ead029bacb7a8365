import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { CHECKS, hasStalled, type StallState } from '../../core/scheduling/stall-detector.ts'

/** The latest response of a connection, and its progress. */
interface Waiting extends StallState {
  response: ServerResponse
}

/** Closes connections whose client reads nothing of a response. */
export type StallWatch = ReturnType<typeof createStallWatch>

/**
 * Watches connections with responses in progress, and closes those without progress for too long: their pending data
 * occupies memory. A slow reader may take its time.
 *
 * A response costs nothing but an entry for its connection; every few seconds all of them are checked.
 */
export function createStallWatch(seconds: number) {
  const waiting = new Map<Socket, Waiting>()
  let timer: NodeJS.Timeout | undefined

  function checkClients(): void {
    for (const [socket, connection] of waiting) {
      const progress = progressOf(socket)
      const isStalled = hasStalled(connection, progress)
      if (socket.destroyed || (progress === undefined && connection.response.writableFinished)) waiting.delete(socket)
      else if (isStalled) socket.destroy()
    }
    if (waiting.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  return {
    /** Called when a response is sent. */
    watch(response: ServerResponse): void {
      const { socket } = response
      // A connection of HTTP/2 carries many responses, and has its own flow control.
      if (!socket || response.req.httpVersionMajor !== 1) return
      const entry = waiting.get(socket)
      if (entry) entry.response = response
      else waiting.set(socket, { response, state: undefined, checks: 0 })
      timer ??= setInterval(checkClients, (seconds * 1000) / CHECKS).unref()
    },
  }
}

/** The progress of a connection with pending data; `undefined` without any. */
export function progressOf(socket: Socket): string | undefined {
  // The stream only knows that a long write has not ended. The handle knows how much the system has not taken yet.
  const { _handle } = socket as Socket & { _handle?: { writeQueueSize?: number } | null }
  const queued = _handle?.writeQueueSize ?? 0
  if (socket.writableLength === 0 && queued === 0) return undefined
  return `${socket.bytesWritten} ${socket.writableLength} ${queued}`
}

/**
 * Resolves when it is this response's turn: pipelined requests are answered one by one, and other connections are
 * served in between. Otherwise each response would start the next one before any other connection is read, and a
 * thousand pipelined requests would block the process until all are answered.
 *
 * @returns a promise of false if the client leaves before; `undefined` if it is the turn of the response
 */
export function waitForTurn(response: ServerResponse | undefined): Promise<boolean> | undefined {
  if (!response || response.socket !== null || response.destroyed || response.req.socket.destroyed) return undefined
  return new Promise((resolve) => {
    response.once('socket', () => setImmediate(resolve, true))
    // Not of the connection, which would have a listener for each of a thousand requests.
    response.req.once('close', () => response.req.socket.destroyed && resolve(false))
  })
}
