import { setTimeout as sleep } from 'node:timers/promises'
import type { Context } from '../context.ts'
import { causeText } from '../core/errors.ts'
import type { Tx } from '../live/transaction.ts'
import { type Draft, isBehind, storeChunks } from './drafts.ts'

/** Pause between two chunks of an answer: short enough to read along, long enough that fast ones cost few commits. */
const CHUNK_MS = 40

/** Pause before the storage is tried again. */
export const RETRY_MS = 500

/** The answers that are written in one conversation: it takes one writer at a time, so they are stored together. */
interface Lane {
  conversation_id: string
  drafts: Set<Draft>
  storing?: Promise<void> | undefined
  /** The storage does not take it at the moment. */
  isWaiting?: boolean
}

/**
 * Stores answers chunk by chunk. All answers of the process have the same beat, so that their chunks share a commit.
 */
export function createScribe(ctx: Pick<Context, 'write' | 'now' | 'log'>) {
  const lanes = new Map<string, Lane>()
  let beat: NodeJS.Timeout | undefined
  let stopping = false

  function laneOf({ conversation_id }: Draft): Lane {
    const lane = lanes.get(conversation_id) ?? { conversation_id, drafts: new Set() }
    lanes.set(conversation_id, lane)
    return lane
  }

  const behindIn = ({ drafts }: Lane) => [...drafts].filter(isBehind)

  function schedule(ms: number): void {
    if (beat) return
    beat = setTimeout(() => {
      beat = undefined
      for (const lane of lanes.values()) void flush(lane)
    }, ms)
  }

  /** Tries to store what came in; resolves whether the storage took it or not. */
  function flush(lane: Lane): Promise<void> {
    const drafts = behindIn(lane)
    if (lane.storing || drafts.length === 0) return lane.storing ?? Promise.resolve()
    lane.storing = attempt(lane, drafts)
    return lane.storing
  }

  async function attempt(lane: Lane, drafts: Draft[]): Promise<void> {
    try {
      await storeChunks(ctx, lane.conversation_id, drafts)
      lane.isWaiting = false
    } catch (error) {
      waits(lane, error)
    }
    lane.storing = undefined
    if (behindIn(lane).length > 0) schedule(lane.isWaiting ? RETRY_MS : CHUNK_MS)
  }

  /** Said once for each time that the storage fails. */
  function waits(lane: Lane, error: unknown): void {
    const { conversation_id } = lane
    if (!lane.isWaiting) ctx.log.warn('Answers wait for the storage', { conversation_id, cause: causeText(error) })
    lane.isWaiting = true
  }

  async function settle(draft: Draft, end: (tx: Tx) => Promise<boolean>): Promise<boolean> {
    const lane = laneOf(draft)
    while (!draft.isLost) {
      await flush(lane)
      try {
        if (!isBehind(draft) && !draft.isLost) return await ctx.write(end)
      } catch (error) {
        waits(lane, error)
      }
      if (!lane.isWaiting) continue
      if (stopping) return false
      await sleep(RETRY_MS)
    }
    return false
  }

  return {
    /** Adds to an answer. Its first piece is stored at once, the others at the next beat. */
    take(draft: Draft, text: string): void {
      const lane = laneOf(draft)
      lane.drafts.add(draft)
      draft.pending += text
      if (draft.stored === 0 && !lane.isWaiting) void flush(lane)
      schedule(lane.isWaiting ? RETRY_MS : CHUNK_MS)
    },

    /**
     * Stores the rest of an answer, then runs `end`. It goes on trying while the storage takes nothing, until the
     * service stops.
     *
     * @returns whether it ended here; false when it is not this process's to write any more
     */
    settle,

    /** Forgets an answer, whatever is left of it. */
    drop(draft: Draft): void {
      draft.isLost = true
      const lane = laneOf(draft)
      lane.drafts.delete(draft)
      if (lane.drafts.size === 0) lanes.delete(draft.conversation_id)
    },

    /** From now on nothing waits for a storage that fails. */
    stop(): void {
      stopping = true
    },
  }
}
