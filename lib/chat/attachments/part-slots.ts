import { ChatError } from '../../core/errors.ts'

/** The maximum number of parts that a process takes at once, of a user and in all: each is in memory, for up to 5 minutes. */
const AT_ONCE = { per_user: 60, in_all: 128 }

/** How soon a part may be there: a good connection sends one in less. */
const RETRY_SECONDS = 1

/** Parts that are being received and stored, limited in number. */
export type PartSlots = ReturnType<typeof createPartSlots>

/** Counts the parts that this process takes at once. */
export function createPartSlots(limits = AT_ONCE) {
  const taken = new Map<string, number>()
  let all = 0

  function free(userId: string): void {
    all--
    const left = taken.get(userId)! - 1
    if (left > 0) taken.set(userId, left)
    else taken.delete(userId)
  }

  return {
    /**
     * Takes a part.
     *
     * @throws ChatError `rate_limited` for a user with too many, `unavailable` with too many in all
     */
    async take<T>(userId: string, work: () => Promise<T>): Promise<T> {
      const own = taken.get(userId) ?? 0
      if (own >= limits.per_user)
        throw new ChatError('rate_limited', {
          message: `You send ${limits.per_user} parts of files already.`,
          retry_after_seconds: RETRY_SECONDS,
        })
      if (all >= limits.in_all) throw new ChatError('unavailable', { retry_after_seconds: RETRY_SECONDS })
      taken.set(userId, own + 1)
      all++
      try {
        return await work()
      } finally {
        free(userId)
      }
    },
  }
}
