import { ChatError } from '../../core/errors.ts'

/** How many transfers have a slot, and how many wait for one. */
export interface TransferLimits {
  /** Slots of a user. Read at each call, as a reload may change it. */
  per_user: () => number
  /** Slots of all users together. */
  in_all: number
  /** The bytes that all transfers may hold in memory together. One alone may hold more. */
  bytes: () => number
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
export interface Wanted {
  user_id: string
  /** What it holds in memory. */
  bytes: number
  /** Aborted, with a ChatError, if the transfer has a slot and loses it. */
  ending: AbortController
}

interface Waiter extends Wanted {
  start: () => void
  refuse: (error: ChatError) => void
}

/** The transfers that wait for a slot. */
export type TransferQueue = ReturnType<typeof createTransferQueue>

/** Creates the queue of one kind of transfer. @param counts the slots that the users have */
export function createTransferQueue(limits: TransferLimits, counts: TransferCounts) {
  const waiting = new Set<Waiter>()
  const hasShare = (userId: string) => counts.of(userId).running >= limits.per_user()
  const { busy, tooMany } = refusalsOf(limits)

  function leave(waiter: Waiter): boolean {
    if (!waiting.delete(waiter)) return false
    counts.add(waiter.user_id, { waiting: -1 })
    return true
  }

  /** The last waiter of a user with the most leaves a full queue, unless `userId` has as many. */
  function makeRoom(userId: string): void {
    if (waiting.size < limits.waiting) return
    const ofMost = (most: Waiter, each: Waiter) =>
      counts.of(each.user_id).waiting >= counts.of(most.user_id).waiting ? each : most
    const last = [...waiting].reduce(ofMost)
    if (counts.of(last.user_id).waiting <= counts.of(userId).waiting + 1) throw busy()
    leave(last)
    last.refuse(busy())
  }

  return {
    hasShare,

    /** @throws ChatError `rate_limited` for a user with too many that wait */
    assertRoom(userId: string): void {
      if (hasShare(userId) && counts.of(userId).waiting >= limits.waiting_per_user) throw tooMany()
    },

    /** Resolves when it is the turn of the transfer, and it was started. @throws ChatError `rate_limited`, `unavailable` */
    async wait<T>(wanted: Wanted, begin: () => T): Promise<T> {
      if (counts.of(wanted.user_id).waiting >= limits.waiting_per_user) throw tooMany()
      makeRoom(wanted.user_id)
      let timer: NodeJS.Timeout | undefined
      try {
        return await new Promise<T>((resolve, reject) => {
          const waiter: Waiter = { ...wanted, start: () => leave(waiter) && resolve(begin()), refuse: reject }
          const giveUp = () => leave(waiter) && reject(hasShare(wanted.user_id) ? tooMany() : busy())
          timer = setTimeout(giveUp, limits.wait_seconds * 1000).unref()
          waiting.add(waiter)
          counts.add(wanted.user_id, { waiting: 1 })
        })
      } finally {
        clearTimeout(timer)
      }
    },

    /** The next transfer: the first of the user with the fewest slots, among the users with slots left. */
    next: () =>
      firstOfFewest(
        [...waiting].filter((each) => !hasShare(each.user_id)),
        counts,
      ),

    isEmpty: () => waiting.size === 0,
    /** The users whose transfers wait. */
    users: () => [...new Set([...waiting].map((each) => each.user_id))],
  }
}

const refusalsOf = ({ message, retry_seconds: retry_after_seconds }: TransferLimits) => ({
  busy: () => new ChatError('unavailable', { retry_after_seconds }),
  tooMany: () => new ChatError('rate_limited', { message: message(), retry_after_seconds }),
})

function firstOfFewest(waiting: readonly Waiter[], counts: TransferCounts): Waiter | undefined {
  const slots = ({ user_id }: Waiter) => counts.of(user_id).running
  return waiting.reduce<Waiter | undefined>(
    (next, each) => (!next || slots(each) < slots(next) ? each : next),
    undefined,
  )
}

interface Counts {
  running: number
  waiting: number
}

const NONE: Counts = { running: 0, waiting: 0 }

/** The slots and the waiting transfers of each user, and the bytes of all. */
export type TransferCounts = ReturnType<typeof createTransferCounts>

export function createTransferCounts() {
  const users = new Map<string, Counts>()
  let bytes = 0
  const of = (userId: string): Readonly<Counts> => users.get(userId) ?? NONE
  return {
    of,
    bytes: () => bytes,
    add(userId: string, change: Partial<Counts> & { bytes?: number }): void {
      const { running, waiting } = of(userId)
      const next = { running: running + (change.running ?? 0), waiting: waiting + (change.waiting ?? 0) }
      if (next.running === 0 && next.waiting === 0) users.delete(userId)
      else users.set(userId, next)
      bytes += change.bytes ?? 0
    },
  }
}
