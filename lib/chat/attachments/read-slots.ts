import { ChatError } from '../../core/errors.ts'

/** How soon a download may be over. */
const RETRY_SECONDS = 5

/** The files that users are reading, limited in number: each reader has up to two pieces in memory, as long as it likes. */
export type ReadSlots = ReturnType<typeof createReadSlots>

/** @param limit the number of files that a user may read at once from this process */
export function createReadSlots(limit: () => number) {
  const taken = new Map<string, number>()

  function free(userId: string): void {
    const left = taken.get(userId)! - 1
    if (left > 0) taken.set(userId, left)
    else taken.delete(userId)
  }

  /** @throws ChatError `rate_limited` for a user with too many */
  function assertFree(userId: string): void {
    if ((taken.get(userId) ?? 0) < limit()) return
    throw new ChatError('rate_limited', {
      message: `You are reading ${limit()} files already.`,
      retry_after_seconds: RETRY_SECONDS,
    })
  }

  return {
    assertFree,

    /** The same bytes, which count from the first one that is read to the last, or until the reader leaves. */
    async *hold(userId: string, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
      assertFree(userId)
      taken.set(userId, (taken.get(userId) ?? 0) + 1)
      try {
        yield* bytes
      } finally {
        free(userId)
      }
    },
  }
}
