import { ChatError } from '../../core/errors.ts'
import { createSlots, type Release, type Slots } from '../../core/scheduling/slots.ts'

/** A transfer that moves fewer bytes between two checks loses its slot while others wait for it. */
const MIN_MOVED_BYTES = 64 * 1024

/** The interval of the checks while transfers wait. */
const CHECK_MS = 10_000

/** How many transfers have a slot, and how many wait for one. */
export interface TransferLimits {
  /** Slots of a user. Read at each call, as a reload may change it. */
  per_user: () => number
  /** What all slots may weigh together. One alone may weigh more. */
  in_all: () => number
  waiting_per_user: number
  waiting: number
  /** How long a transfer waits. */
  wait_seconds: number
  /** When a refused caller may try again. */
  retry_seconds: number
  /** The message of the error for a user with too many. */
  message: () => string
}

/** What a transfer asks for. */
interface Wanted {
  user_id: string
  weight: number
  /** Aborted, with a ChatError, if the transfer has a slot and loses it. */
  ending: AbortController
}

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
  const { retry_seconds: retry_after_seconds } = limits
  const running = new Set<Transfer>()
  const busy = () => new ChatError('unavailable', { retry_after_seconds })
  const tooMany = () => new ChatError('rate_limited', { message: limits.message(), retry_after_seconds })
  const slots = createSlots({
    max: limits.in_all,
    perKey: limits.per_user,
    maxWaiting: limits.waiting,
    maxWaitingPerKey: limits.waiting_per_user,
    fewestFirst: true,
    refuse: { all: busy, key: tooMany },
  })
  const hasShare = (userId: string) => slots.count(userId).running >= limits.per_user()
  const checks = createChecks(running, slots, hasShare)

  async function wait(userId: string, weight: number): Promise<Release> {
    checks.start()
    const signal = AbortSignal.timeout(limits.wait_seconds * 1000)
    try {
      return await slots.acquire(userId, { signal, weight, line: 'all' })
    } catch (error) {
      if (error !== signal.reason) throw error
      throw hasShare(userId) ? tooMany() : busy()
    }
  }

  return {
    /** @throws ChatError `rate_limited` for a user with too many that wait */
    assertRoom(userId: string): void {
      if (hasShare(userId) && slots.count(userId).waiting >= limits.waiting_per_user) throw tooMany()
    },

    /** Ends the transfers that are too slow; called by itself while others wait. */
    check: checks.run,
    /** What all slots weigh. */
    weight: slots.weight,

    /**
     * Resolves when the transfer has a slot, which it frees at its end.
     *
     * @throws ChatError `rate_limited` if the user has too many, `unavailable` if all together have
     */
    async take({ user_id, weight, ending }: Wanted): Promise<TransferSlot> {
      const release = slots.tryAcquire(user_id, weight) ?? (await wait(user_id, weight))
      const transfer: Transfer = { user_id, ending, moved: 0 }
      running.add(transfer)
      return {
        moved(count) {
          transfer.moved += count
        },
        free() {
          running.delete(transfer)
          release()
        },
      }
    },
  }
}

/** Looks every few seconds for transfers that are too slow, while others wait. */
function createChecks(running: ReadonlySet<Transfer>, slots: Slots, hasShare: (userId: string) => boolean) {
  let timer: NodeJS.Timeout | undefined

  function run(): void {
    const users = slots.waitingKeys()
    if (users.length === 0) {
      clearInterval(timer)
      timer = undefined
    }
    // Users whose transfers wait for other transfers of their own.
    const crowded = new Set(users.filter(hasShare))
    const isFull = crowded.size < users.length
    const without = users.filter((userId) => slots.count(userId).running === 0)
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
