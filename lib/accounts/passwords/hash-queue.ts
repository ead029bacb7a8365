import { ChatError } from '../../core/errors.ts'
import { networkOf } from '../../limits/rules.ts'

/** The caller that a password is hashed for. */
export interface HashCaller {
  /** The unit of the limit per caller: an id, or the account of a sign-in. Missing for a new account: its network counts. */
  user?: string | undefined
  /** Calls without an address count as one network. */
  ip?: string | undefined
  /** Whether the caller is known: its browser has signed in to this account before, or it has a mailed token. */
  is_known?: boolean | undefined
}

/** The maximum number of waiting hashes; at 100 ms each on one core, the last of them waits for some seconds. */
const MAX_WAITING = 64

/** The places reserved for known callers: unknown callers that fill the queue do not lock them out. */
const KEPT_PLACES = 1

/** The jobs of one caller that run at once: on a machine with many cores the others stay for other callers. */
const CONCURRENCY_PER_CALLER = 2

/** The waiting jobs of one caller: an administrator may create users one after another without waiting for each. */
const MAX_WAITING_PER_CALLER = 16

/** Users behind one address may sign in at the same time, for example at the beginning of a lesson. */
const MAX_WAITING_PER_NETWORK = 16

/** When a caller without a place should try again. */
const RETRY_AFTER_SECONDS = 5

interface Waiting {
  /** The user, or the network of a new account. */
  caller: string
  network: string
  is_kept: boolean
  /** The position in the order: lower is earlier. */
  tag: number
  start: () => void
}

/**
 * Creates a queue that runs `most` jobs at a time, of one caller at most two. Networks take turns (start-time fair
 * queuing): the first job of a quiet network is ahead of the second job of a busy one. A caller whose two jobs run does
 * not hold up the others.
 *
 * @returns a function that runs a job; it throws ChatError `unavailable` when the caller has no place
 */
export function createHashQueue(most: number) {
  const waiting: Waiting[] = []
  const running: string[] = []
  let current_tag = 0

  const mayRun = (caller: string) => running.filter((each) => each === caller).length < CONCURRENCY_PER_CALLER

  function place(caller: string, network: string, isKnown: boolean): Omit<Waiting, 'start'> | undefined {
    if (waiting.filter((each) => each.caller === caller).length >= MAX_WAITING_PER_CALLER) return undefined
    const ofNetwork = waiting.filter((each) => each.network === network && !each.is_kept)
    const tag = Math.max(current_tag, ...ofNetwork.map((each) => each.tag)) + 1
    const kept = waiting.filter((each) => each.is_kept).length
    const isFull = waiting.length - kept >= MAX_WAITING - KEPT_PLACES
    if (!isFull && ofNetwork.length < MAX_WAITING_PER_NETWORK) return { caller, network, tag, is_kept: false }
    return isKnown && kept < KEPT_PLACES ? { caller, network, tag: current_tag, is_kept: true } : undefined
  }

  /** Starts the earliest job that may run. */
  function startNext(): void {
    const ready = waiting.filter((each) => mayRun(each.caller))
    if (ready.length === 0 || running.length >= most) return
    const first = ready.reduce((best, each) => (each.tag < best.tag ? each : best))
    waiting.splice(waiting.indexOf(first), 1)
    current_tag = Math.max(current_tag, first.tag)
    running.push(first.caller)
    first.start()
  }

  return async <T>({ user, ip, is_known = false }: HashCaller, job: () => Promise<T>): Promise<T> => {
    const network = networkOf(ip ?? '')
    const caller = user ?? network
    if (running.length < most && mayRun(caller)) running.push(caller)
    else {
      const taken = place(caller, network, is_known)
      if (!taken) throw new ChatError('unavailable', { retry_after_seconds: RETRY_AFTER_SECONDS })
      await new Promise<void>((start) => waiting.push({ ...taken, start }))
    }
    try {
      return await job()
    } finally {
      running.splice(running.indexOf(caller), 1)
      startNext()
    }
  }
}
