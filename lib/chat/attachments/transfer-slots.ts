import { ChatError } from '../../core/errors.ts'
import {
  createTransferCounts,
  createTransferQueue,
  type TransferCounts,
  type TransferLimits,
  type TransferQueue,
  type Wanted,
} from './transfer-queue.ts'

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
 * Creates the slots of one kind of transfer in this process. A transfer without a free slot waits; the user with the
 * fewest slots gets the next free one. A transfer that is too slow loses its slot to a waiting one: to one of another
 * user when all slots are taken, to one of the same user when only the user's own are. When all slots are taken, a user
 * with several loses one to each user with none: otherwise two users could keep all of them at the lowest rate.
 */
export function createTransferSlots(limits: TransferLimits) {
  const running = new Set<Transfer>()
  const counts = createTransferCounts()
  const queue = createTransferQueue(limits, counts)
  const checks = createChecks(running, queue, counts)

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
function createChecks(running: ReadonlySet<Transfer>, queue: TransferQueue, counts: TransferCounts) {
  let timer: NodeJS.Timeout | undefined

  function run(): void {
    if (queue.isEmpty()) {
      clearInterval(timer)
      timer = undefined
    }
    const isFull = queue.next() !== undefined
    const users = queue.users()
    // Users whose transfers wait for other transfers of their own.
    const crowded = new Set(users.filter(queue.hasShare))
    const without = users.filter((userId) => counts.of(userId).running === 0)
    const going: Going[] = []
    let ended = 0
    for (const transfer of running) {
      const { moved, moved_before, user_id, ending } = transfer
      transfer.moved_before = moved
      const speed = moved_before === undefined ? Number.POSITIVE_INFINITY : moved - moved_before
      if (speed >= MIN_MOVED_BYTES || !(isFull || crowded.has(user_id))) going.push({ user_id, ending, speed })
      else {
        ending.abort(tooSlow())
        ended++
      }
    }
    if (isFull) endSome(going, without.length - ended)
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

/** A transfer that may continue, with the bytes it has moved since the last check: infinite for a new one. */
type Going = Pick<Transfer, 'user_id' | 'ending'> & { speed: number }

/** Ends up to `count` transfers, no new one: each time the slowest of the user with the most. Each user keeps one. */
function endSome(going: readonly Going[], count: number): void {
  const left = new Map<string, Going[]>()
  for (const each of [...going].sort((a, b) => b.speed - a.speed))
    left.set(each.user_id, [...(left.get(each.user_id) ?? []), each])
  for (let n = 0; n < count; n++) {
    const several = [...left.values()].filter(
      (each) => each.length > 1 && each.at(-1)!.speed < Number.POSITIVE_INFINITY,
    )
    if (several.length === 0) return
    several
      .reduce((most, each) => (each.length > most.length ? each : most))
      .pop()!
      .ending.abort(tooMany())
  }
}

function tooMany(): ChatError {
  return new ChatError('request_timeout', {
    message: 'Others waited for a place, and you had several: try again.',
  })
}

function tooSlow(): ChatError {
  return new ChatError('request_timeout', {
    message: 'Fewer than 64 KiB have moved in 10 seconds, while others waited: try again.',
  })
}
