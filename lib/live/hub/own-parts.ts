import type { CatchUpDeps } from '../conversation/replay.ts'
import type { Reader } from '../readers/reader.ts'

/**
 * Sends a reader a part of something that is no event, such as the rows of an answer: at its turn, while few readers are sent what
 * they have missed. Resolves when the client has read it.
 *
 * @returns false if the reader is closed
 */
export type SendPart = (work: () => Promise<void>) => Promise<boolean>

/** Creates what sends the parts of one reader. */
export function createSendPart(reader: Reader, deps: Pick<CatchUpDeps, 'slots' | 'turn' | 'drained'>): SendPart {
  return async (work) => {
    if (!(await deps.slots.take(reader))) return false
    try {
      await deps.turn(reader, work)
      await deps.drained(reader)
    } finally {
      deps.slots.leave(reader)
    }
    return !reader.closed
  }
}
