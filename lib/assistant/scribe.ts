import { setTimeout as sleep } from 'node:timers/promises'
import type { Context } from '../context.ts'
import type { Tx } from '../events/write.ts'
import { type Draft, isBehind, storeNext } from './draft.ts'

/** Pause between two chunks of an answer: short enough to read along, long enough that fast ones cost few commits. */
const CHUNK_MS = 40

/** Pause before the storage is tried again. */
const RETRY_MS = 500

/** Writes answers down as they come. */
export type Scribe = ReturnType<typeof createScribe>

/**
 * Stores answers chunk by chunk. All answers of the process have the same beat, so that their chunks share a commit.
 */
export function createScribe(ctx: Pick<Context, 'write' | 'now' | 'log'>) {
  const drafts = new Set<Draft>()
  let beat: NodeJS.Timeout | undefined
  let stopping = false

  function schedule(ms: number): void {
    if (beat) return
    beat = setTimeout(() => {
      beat = undefined
      for (const draft of drafts) if (isBehind(draft)) void flush(draft)
    }, ms)
  }

  /** Said once for each time that the storage fails. */
  function waits(draft: Draft, error: unknown): void {
    const { message_id } = draft
    if (!draft.isWaiting) ctx.log.warn('An answer waits for the storage', { message_id, cause: String(error) })
    draft.isWaiting = true
  }

  /** Tries to store what came in; resolves whether the storage took it or not. */
  function flush(draft: Draft): Promise<void> {
    draft.storing ??= attempt(draft)
    return draft.storing
  }

  async function attempt(draft: Draft): Promise<void> {
    try {
      if (!isBehind(draft)) return
      draft.isLost = !(await storeNext(ctx, draft))
      draft.isWaiting = false
    } catch (error) {
      waits(draft, error)
    } finally {
      draft.storing = undefined
      if (isBehind(draft)) schedule(draft.isWaiting ? RETRY_MS : CHUNK_MS)
    }
  }

  return {
    /** Adds to an answer. Its first piece is stored at once, the others at the next beat. */
    take(draft: Draft, text: string): void {
      drafts.add(draft)
      draft.pending += text
      if (draft.stored === 0 && !draft.storing && !draft.isWaiting) void flush(draft)
      else schedule(CHUNK_MS)
    },

    /**
     * Stores the rest of an answer, then runs `end`. It goes on trying while the storage takes nothing, until the
     * service stops.
     *
     * @returns whether it ended here; false when it is not this process's to write any more
     */
    async settle(draft: Draft, end: (tx: Tx) => Promise<boolean>): Promise<boolean> {
      try {
        while (!draft.isLost) {
          await flush(draft)
          if (!isBehind(draft) && !draft.isLost) {
            try {
              return await ctx.write(end)
            } catch (error) {
              waits(draft, error)
            }
          }
          if (stopping && draft.isWaiting) return false
          if (draft.isWaiting) await sleep(RETRY_MS)
        }
        return false
      } finally {
        drafts.delete(draft)
      }
    },

    /** From now on nothing waits for a storage that fails. */
    stop(): void {
      stopping = true
    },
  }
}
