import { createSlots } from '../../core/scheduling/slots.ts'
import type { Reader } from '../readers/reader.ts'

/** Limits the replays that are in progress at the same time. */
export type ReplaySlots = ReturnType<typeof createReplaySlots>

/**
 * Creates the slots of a process. A reader has one while a part of its missed events is read and sent, until that has left
 * the process. After a restart thousands of clients resume at once, and slow ones would each hold a page in memory.
 *
 * Readers wait in the order of arrival, but users take turns: however many streams a user has, a reader of another one
 * waits for one of them.
 */
export function createReplaySlots(max: number) {
  const slots = createSlots({ max })
  /** For each reader that has a slot or waits for one, what ends that. */
  const ends = new Map<Reader, () => void>()

  return {
    /** Resolves when the reader has a slot, at once if it has one already. @returns false if it is closed before */
    async take(reader: Reader): Promise<boolean> {
      if (reader.closed) return false
      if (ends.has(reader)) return true
      const onWait = (leave: () => void) => ends.set(reader, leave)
      onWait(() => {})
      const release = await slots.acquire(reader.user_id, { onWait }).catch(() => undefined)
      // It may also leave in the moment in which it gets the slot.
      const isHere = ends.has(reader)
      if (isHere) ends.set(reader, release!)
      else release?.()
      return isHere
    },

    /** Gives the slot of a reader to the next one, or ends its wait. */
    leave(reader: Reader): void {
      ends.get(reader)?.()
      ends.delete(reader)
    },
  }
}
