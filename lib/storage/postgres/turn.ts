import type { Connection } from './watchdog.ts'

/**
 * Sends the statements that are issued on a connection in one turn of the event loop, also from promises, as one packet:
 * `pg` writes each to the socket by itself, which takes as much CPU as all else that it does for a statement.
 */
export function gatherTurn({ connection: { stream } }: Connection): void {
  if (stream.writableCorked > 0) return
  stream.cork()
  // A tick that a microtask adds runs after all microtasks.
  queueMicrotask(() => process.nextTick(() => stream.uncork()))
}
