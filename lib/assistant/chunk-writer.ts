import { setTimeout as sleep } from 'node:timers/promises'
import type { Context } from '../context.ts'
import { causeText } from '../core/errors.ts'
import { warnOnce } from '../core/scheduling/once.ts'
import type { Tx } from '../live/transaction/transaction.ts'
import { addRow, type Draft, type DraftRow, isBehind, storeChunks } from './drafts.ts'

/**
 * Pause between two chunks of an answer: short enough to read along, long enough that fast answers need few commits.
 */
const CHUNK_MS = 40

/** Pause before a failed write is retried. */
export const RETRY_MS = 500

type WriterContext = Pick<Context, 'write' | 'now' | 'log'>

/** Stores the answers of one conversation together: it has one transaction at a time. */
type ConversationQueue = ReturnType<typeof createConversationQueue>

/** Stores the answers that this process writes. */
export type ChunkWriter = ReturnType<typeof createChunkWriter>

/** Stores answers chunk by chunk. All answers of the process are flushed together, so that their chunks share a commit. */
export function createChunkWriter(ctx: WriterContext) {
  const queues = new Map<string, ConversationQueue>()
  const scheduleFlush = createSchedule(() => {
    for (const queue of queues.values()) void queue.flush()
  })
  let stopping = false

  function queueOf({ conversation_id }: Draft): ConversationQueue {
    const queue = queues.get(conversation_id) ?? createConversationQueue(ctx, conversation_id, scheduleFlush)
    queues.set(conversation_id, queue)
    return queue
  }

  function schedule(draft: Draft): void {
    if (draft.isHeld) return
    const queue = queueOf(draft)
    queue.drafts.add(draft)
    if (draft.stored === 0 && !queue.isFailing()) void queue.flush()
    scheduleFlush(queue.isFailing() ? RETRY_MS : CHUNK_MS)
  }

  return {
    /** Appends text to an answer. Its first chunk is stored at once, the others at the next flush. */
    add(draft: Draft, text: string): void {
      draft.pending += text
      schedule(draft)
    },

    /** Adds a chunk that is no text, in the order of all: it is stored as text is. */
    addRow(draft: Draft, row: DraftRow): void {
      addRow(draft, row)
      schedule(draft)
    },

    /** Stores what was kept back of an answer. */
    release(draft: Draft): void {
      draft.isHeld = false
      schedule(draft)
    },

    /**
     * Stores the rest of an answer, then runs `end`. While the storage fails, both are retried until the service stops.
     *
     * @returns whether the answer was ended here; false when this process has lost it
     */
    async settle(draft: Draft, end: (tx: Tx) => Promise<boolean>): Promise<boolean> {
      const queue = queueOf(draft)
      while (!draft.isLost) {
        await queue.flush()
        try {
          if (!isBehind(draft) && !draft.isLost) return await ctx.write(end)
        } catch (error) {
          queue.fail(error)
        }
        if (!queue.isFailing()) continue
        if (stopping) return false
        await sleep(RETRY_MS)
      }
      return false
    },

    /** Drops an answer, including text that is not stored yet. */
    drop(draft: Draft): void {
      draft.isLost = true
      const { drafts } = queueOf(draft)
      drafts.delete(draft)
      if (drafts.size === 0) queues.delete(draft.conversation_id)
    },

    /** From now on failed writes are not retried. */
    stop(): void {
      stopping = true
    },
  }
}

/** Calls `flush` once, an interval after the first request since the last flush. */
function createSchedule(flush: () => void): (ms: number) => void {
  let timer: NodeJS.Timeout | undefined
  return (ms) => {
    if (timer) return
    timer = setTimeout(() => {
      timer = undefined
      flush()
    }, ms)
  }
}

function createConversationQueue(ctx: WriterContext, conversation_id: string, scheduleFlush: (ms: number) => void) {
  const drafts = new Set<Draft>()
  const listBehind = () => [...drafts].filter(isBehind)
  const fail = warnOnce((error: unknown) =>
    ctx.log.warn('Answers wait for the storage', { conversation_id, cause: causeText(error) }),
  )
  let storing: Promise<void> | undefined

  async function store(behind: Draft[]): Promise<void> {
    try {
      await storeChunks(ctx, conversation_id, behind)
      fail.reset()
    } catch (error) {
      fail(error)
    }
    storing = undefined
    if (listBehind().length > 0) scheduleFlush(fail.isReported() ? RETRY_MS : CHUNK_MS)
  }

  return {
    drafts,
    /** Whether the last write failed. */
    isFailing: fail.isReported,
    fail,

    /** Tries to store the new text; resolves whether it succeeded or not. */
    flush(): Promise<void> {
      const behind = listBehind()
      if (storing || behind.length === 0) return storing ?? Promise.resolve()
      storing = store(behind)
      return storing
    },
  }
}
