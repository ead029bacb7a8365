import { ChatError } from '../../core/errors.ts'
import { createSlots } from '../../core/scheduling/slots.ts'
import { toNetwork } from '../../limits/rules.ts'

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

/**
 * Creates a queue that runs `max` jobs at a time, of one caller at most two. Networks take turns: the first job of a quiet
 * network is ahead of the second job of a busy one. A caller whose two jobs run does not hold up the others.
 *
 * @returns a function that runs a job; it throws ChatError `unavailable` when the caller has no place
 */
export function createHashQueue(max: number) {
  const slots = createSlots({
    max,
    perKey: CONCURRENCY_PER_CALLER,
    maxWaiting: MAX_WAITING - KEPT_PLACES,
    maxWaitingPerKey: MAX_WAITING_PER_CALLER,
    maxWaitingPerLine: MAX_WAITING_PER_NETWORK,
    reserved: KEPT_PLACES,
    refuse: { all: () => new ChatError('unavailable', { retry_after_seconds: RETRY_AFTER_SECONDS }) },
  })

  return <T>({ user, ip, is_known = false }: HashCaller, job: () => Promise<T>): Promise<T> => {
    const network = toNetwork(ip ?? '')
    return slots.run(user ?? network, job, { line: network, isPrivileged: is_known })
  }
}
