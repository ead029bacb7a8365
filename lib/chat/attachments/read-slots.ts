import { createTransferSlots, type TransferLimits } from './transfer-slots.ts'

/** How soon a download may be over. */
const RETRY_SECONDS = 5

/** How much is handed to a reader at a time: the progress of a slow one is seen in steps of this size. */
const STEP_BYTES = 64 * 1024

/**
 * Most pictures of a page with many of them wait for a moment; a browser gives up before their wait is over. What readers
 * have in memory is counted for each piece.
 */
const LIMITS = {
  in_all: () => 1_024,
  waiting_per_user: 112,
  waiting: 1_000,
  wait_seconds: 30,
  retry_seconds: RETRY_SECONDS,
}

/** The files that users are reading, limited in number: each reader has up to two pieces in memory, as long as it likes. */
export type ReadSlots = ReturnType<typeof createReadSlots>

/** Bytes that a reader takes. */
export interface HeldBytes {
  bytes: AsyncGenerator<Uint8Array>
  /** Aborted when the reader loses its slot, as it is too slow for others that wait. */
  signal: AbortSignal
}

/** @param limit the number of files that a user may read at once from this process */
export function createReadSlots(limit: () => number, limits: Partial<TransferLimits> = {}) {
  const slots = createTransferSlots({
    ...LIMITS,
    per_user: limit,
    message: () => `You are reading ${limit()} files already.`,
    ...limits,
  })

  async function* take(userId: string, bytes: AsyncIterable<Uint8Array>, ending: AbortController) {
    const slot = await slots.take({ user_id: userId, weight: 1, ending })
    const { signal } = ending
    signal.addEventListener('abort', slot.free)
    try {
      for await (const piece of bytes)
        for (let at = 0; at < piece.length; at += STEP_BYTES) {
          signal.throwIfAborted()
          const step = piece.subarray(at, at + STEP_BYTES)
          yield step
          slot.moved(step.length)
        }
    } finally {
      slot.free()
    }
  }

  return {
    /** @throws ChatError `rate_limited` for a user with too many */
    assertRoom: slots.assertRoom,

    /**
     * Passes bytes on in steps of 64 KiB. They have a slot from the first step that is read to the last, or until the
     * reader leaves; the first step waits for it.
     *
     * @throws ChatError when they are read: `rate_limited`, `unavailable` without a slot; `request_timeout` for one that loses it
     */
    hold(userId: string, bytes: AsyncIterable<Uint8Array>): HeldBytes {
      const ending = new AbortController()
      return { bytes: take(userId, bytes, ending), signal: ending.signal }
    },

    /** Ends the readers that are too slow for those that wait; it runs by itself. */
    check: slots.check,
  }
}
