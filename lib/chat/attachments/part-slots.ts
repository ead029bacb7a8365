import { setMaxListeners } from 'node:events'
import { ChatError } from '../../core/errors.ts'
import { createPartBuffers } from './part-buffers.ts'
import { createTransferSlots, type TransferLimits } from './transfer-slots.ts'

/** How soon a part may be there: a good connection sends one in less. */
const RETRY_SECONDS = 1

/**
 * The maximum number of parts of a user that a process takes at once, and that wait for their turn, unread: each has a
 * connection. How many there are in all follows from the bytes they take in memory.
 */
const LIMITS = {
  per_user: () => 12,
  waiting_per_user: 48,
  waiting: 512,
  wait_seconds: 300,
  retry_seconds: RETRY_SECONDS,
  message: () => 'You send 60 parts of files already.',
}

/** What a part takes at least: the buffers of its connection. */
const MIN_BYTES = 64 * 1024

/** How long parts may still arrive once the service stops. */
const DRAIN_TIMEOUT_MS = 5_000

/** Parts that are being received and stored, limited in number. */
export type PartSlots = ReturnType<typeof createPartSlots>

/** A part that has a slot. */
export interface PartSlot {
  /** As long as the part: it may be used until the work ends. */
  buffer: Uint8Array
  /** Aborted when what has not arrived is to be refused with its reason. */
  signal: AbortSignal
  /** Called with the number of bytes of each piece that arrives. */
  onBytes: (count: number) => void
}

/** Counts the parts that this process takes at once. @param bytes how many of them may be in memory */
export function createPartSlots(bytes: () => number, limits: Partial<TransferLimits> = {}) {
  const slots = createTransferSlots({ ...LIMITS, in_all: bytes, ...limits })
  const buffers = createPartBuffers()
  const { signal: stopped, drain, close } = createEnd()

  return {
    /**
     * Takes a part of `length` bytes.
     *
     * @throws ChatError `rate_limited` for a user with too many, `unavailable` with too many in all; `request_timeout` for one
     *   that arrives too slowly while others wait
     */
    async take<T>(userId: string, length: number, work: (slot: PartSlot) => Promise<T>): Promise<T> {
      const ending = new AbortController()
      const slot = await slots.take({ user_id: userId, weight: Math.max(length, MIN_BYTES), ending })
      const onStop = () => ending.abort(stopped.reason)
      if (stopped.aborted) onStop()
      else stopped.addEventListener('abort', onStop)
      try {
        return await buffers.use(length, (buffer) => work({ buffer, signal: ending.signal, onBytes: slot.moved }))
      } finally {
        stopped.removeEventListener('abort', onStop)
        slot.free()
      }
    },

    /** Ends the parts that are too slow for those that wait; it runs by itself. */
    check: slots.check,
    /** The bytes of parts in memory. */
    bytes: slots.weight,
    drain,
    close,
  }
}

/** The end of the parts that are arriving when the service stops. */
function createEnd() {
  const ending = new AbortController()
  // As many parts as there may be listen to it.
  setMaxListeners(0, ending.signal)
  let timer: NodeJS.Timeout | undefined
  const end = () =>
    ending.abort(
      new ChatError('unavailable', {
        message: 'The service stops: send the part again.',
        retry_after_seconds: RETRY_SECONDS,
      }),
    )

  return {
    signal: ending.signal,
    /** Parts that have not arrived {@link DRAIN_TIMEOUT_MS} from now are refused: their client sends them to another process. */
    drain(): void {
      timer ??= setTimeout(end, DRAIN_TIMEOUT_MS).unref()
    },
    /** Refuses the parts that have not arrived. */
    close(): void {
      clearTimeout(timer)
      end()
    },
  }
}
