import { ChatError } from '../../core/errors.ts'
import { networkOf } from '../../limits/rules.ts'

/** The caller that a password is hashed for. */
export interface HashCaller {
  /** The unit of the limit per user: an id, or the account of a sign-in. Missing for a new account. */
  user?: string | undefined
  /** Calls without an address count as one network. */
  ip?: string | undefined
  /** Whether the caller is known: its browser has signed in to this account before, or it has a mailed token. */
  is_known?: boolean | undefined
}

/** The maximum number of waiting hashes; at 100 ms each on one core, the last of them waits for some seconds. */
const QUEUE_LENGTH = 64

/** The places reserved for known callers: strangers who fill the queue do not lock them out. */
const KEPT_PLACES = 1

/** A person may click twice; more at once is a program. */
const PLACES_PER_USER = 2

/** Users behind one address may sign in at the same time, for example at the beginning of a lesson. */
const PLACES_PER_NETWORK = 16

/** When a caller without a place should try again. */
const RETRY_AFTER_SECONDS = 5

interface Waiting {
  user: string | undefined
  network: string
  is_kept: boolean
  /** The position in the order: lower is earlier. */
  tag: number
  start: () => void
}

/**
 * Creates a queue that runs `running` jobs at a time. Networks take turns (start-time fair queuing): the first job of a
 * quiet network is ahead of the second job of a busy one.
 *
 * @returns a function that runs a job; it throws ChatError `unavailable` when the caller has no place
 */
export function createHashQueue(running: number) {
  const waiting: Waiting[] = []
  let free = running
  let current_tag = 0

  function place(caller: HashCaller): Omit<Waiting, 'start'> | undefined {
    const { user } = caller
    const network = networkOf(caller.ip ?? '')
    if (user !== undefined && waiting.filter((each) => each.user === user).length >= PLACES_PER_USER) return undefined
    const ofNetwork = waiting.filter((each) => each.network === network && !each.is_kept)
    const tag = Math.max(current_tag, ...ofNetwork.map((each) => each.tag)) + 1
    const kept = waiting.filter((each) => each.is_kept).length
    const isFull = waiting.length - kept >= QUEUE_LENGTH - KEPT_PLACES
    if (!isFull && ofNetwork.length < PLACES_PER_NETWORK) return { user, network, tag, is_kept: false }
    return caller.is_known && kept < KEPT_PLACES ? { user, network, tag: current_tag, is_kept: true } : undefined
  }

  function next(): Waiting | undefined {
    if (waiting.length === 0) return undefined
    const first = waiting.reduce((best, each) => (each.tag < best.tag ? each : best))
    waiting.splice(waiting.indexOf(first), 1)
    current_tag = first.tag
    return first
  }

  return async <T>(caller: HashCaller, job: () => Promise<T>): Promise<T> => {
    if (free === 0) {
      const taken = place(caller)
      if (!taken) throw new ChatError('unavailable', { retry_after_seconds: RETRY_AFTER_SECONDS })
      await new Promise<void>((start) => waiting.push({ ...taken, start }))
    } else free--
    try {
      return await job()
    } finally {
      const following = next()
      if (following) following.start()
      else free++
    }
  }
}
