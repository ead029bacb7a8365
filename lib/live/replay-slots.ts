import type { Reader } from './reader.ts'

/** Limits the replays that are in progress at the same time. */
export type ReplaySlots = ReturnType<typeof createReplaySlots>

/**
 * Creates the slots of a process. A reader has one while a part of its missed events is read and sent, until that has left
 * the process. After a restart thousands of clients resume at once, and slow ones would each hold a page in memory.
 *
 * Readers wait in the order of arrival, but users take turns: however many streams a user has, a reader of another one
 * waits for one of them.
 */
export function createReplaySlots(most: number) {
  const taken = new Set<Reader>()
  /** The readers that wait, by user, in the order of the users' turns. */
  const waiting = new Map<string, Map<Reader, (hasSlot: boolean) => void>>()

  function next(): void {
    for (const [user_id, readers] of waiting) {
      waiting.delete(user_id)
      for (const [reader, begin] of readers) {
        readers.delete(reader)
        if (readers.size > 0) waiting.set(user_id, readers)
        taken.add(reader)
        begin(true)
        return
      }
    }
  }

  return {
    /** Resolves when the reader has a slot, at once if it has one already. @returns false if it is closed before */
    async take(reader: Reader): Promise<boolean> {
      if (reader.closed) return false
      if (taken.size < most) taken.add(reader)
      if (taken.has(reader)) return true
      const readers = waiting.get(reader.user_id) ?? new Map()
      waiting.set(reader.user_id, readers)
      return new Promise((resolve) => readers.set(reader, resolve))
    },

    /** Gives the slot of a reader to the next one, or ends its wait. */
    leave(reader: Reader): void {
      taken.delete(reader)
      const readers = waiting.get(reader.user_id)
      readers?.get(reader)?.(false)
      readers?.delete(reader)
      if (readers?.size === 0) waiting.delete(reader.user_id)
      while (taken.size < most && waiting.size > 0) next()
    },
  }
}
