import { ChatError } from '../../core/errors.ts'
import { createTransferCounts, createTransferQueue, type TransferLimits, type Wanted } from './transfer-queue.ts'

/** A transfer that moves fewer bytes between two checks loses its slot while others wait for it. */
const MIN_MOVED_BYTES = 64 * 1024

/** The interval of the checks while transfers wait. */
const CHECK_MS = 10_000

/** A slot of a transfer. */
export interface TransferSlot {
  /** Counts bytes that the client has sent or taken. */
  moved(bytes: number): void
  /** Gives the slot to the next transfer; may be called again. */
  free(): void
}

/** A transfer that has a slot. */
interface Transfer {
  user_id: string
  ending: AbortController
  moved: number
  /** What was moved at the last check. */
  moved_before?: number
}

/** The slots of uploads or of downloads. */
export type TransferSlots = ReturnType<typeof createTransferSlots>

/**
 * Creates the slots of one kind of transfer in this process. A transfer without a free slot waits; the next free one is of
 * the user with the fewest slots. What is too slow loses its slot to those that wait for it: to other users when all slots
 * are taken, to the same user when only these are.
 */
export function createTransferSlots(limits: TransferLimits) {
  const running = new Set<Transfer>()
  const counts = createTransferCounts()
  const queue = createTransferQueue(limits, counts)
  const checks = createChecks(running, queue)

  function fits({ bytes }: Wanted): boolean {
    const used = counts.bytes()
    return running.size < limits.in_all && (used === 0 || used + bytes <= limits.bytes())
  }

  function begin({ user_id, bytes, ending }: Wanted): TransferSlot {
    const transfer: Transfer = { user_id, ending, moved: 0 }
    running.add(transfer)
    counts.add(user_id, { running: 1, bytes })
    return {
      moved(count) {
        transfer.moved += count
      },
      free() {
        if (!running.delete(transfer)) return
        counts.add(user_id, { running: -1, bytes: -bytes })
        for (let next = queue.next(); next && fits(next); next = queue.next()) next.start()
      },
    }
  }

  return {
    assertRoom: queue.assertRoom,
    /** Ends the transfers that are too slow; called by itself while others wait. */
    check: checks.run,
    /** The bytes that transfers hold in memory. */
    bytes: counts.bytes,

    /**
     * Resolves when the transfer has a slot, which it frees at its end.
     *
     * @throws ChatError `rate_limited` if the user has too many, `unavailable` if all together have
     */
    async take(wanted: Wanted): Promise<TransferSlot> {
      if (!queue.hasShare(wanted.user_id) && queue.next() === undefined && fits(wanted)) return begin(wanted)
      checks.start()
      return queue.wait(wanted, () => begin(wanted))
    },
  }
}

/** Looks every few seconds for transfers that are too slow, while others wait. */
function createChecks(running: ReadonlySet<Transfer>, queue: ReturnType<typeof createTransferQueue>) {
  let timer: NodeJS.Timeout | undefined

  function run(): void {
    if (queue.isEmpty()) {
      clearInterval(timer)
      timer = undefined
    }
    const isFull = queue.next() !== undefined
    const crowded = queue.crowdedUsers()
    for (const transfer of running) {
      const { moved, moved_before, user_id, ending } = transfer
      transfer.moved_before = moved
      const isSlow = moved_before !== undefined && moved - moved_before < MIN_MOVED_BYTES
      if (isSlow && (isFull || crowded.has(user_id))) ending.abort(tooSlow())
    }
  }

  return {
    run,
    start(): void {
      if (timer) return
      for (const transfer of running) transfer.moved_before = transfer.moved
      timer = setInterval(run, CHECK_MS).unref()
    },
  }
}

function tooSlow(): ChatError {
  return new ChatError('request_timeout', {
    message: 'Fewer than 64 KiB have moved in 10 seconds, while others waited: try again.',
  })
}
