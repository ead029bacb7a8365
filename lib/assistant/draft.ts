import type { Context } from '../context.ts'
import { enterUnattended } from '../conversations/access.ts'
import type { Tx } from '../events/write.ts'
import { toDelta } from './rules.ts'
import { insertChunk, takeIndex } from './store.ts'

/** An answer that this process writes. */
export interface Draft {
  message_id: string
  conversation_id: string
  root_id: string
  parent_id: string | null
  depth: number
  writer: string
  /** Came in, and is in no chunk yet. */
  pending: string
  /** A chunk on its way to the storage: tried again as it is until it is there. */
  chunk?: string | undefined
  /** How many chunks are stored. */
  stored: number
  storing?: Promise<void> | undefined
  /** The storage does not take it at the moment. */
  isWaiting?: boolean
  /** It is not this process's to write any more. */
  isLost?: boolean
}

/** Whether something came in that is not stored. */
export function isBehind({ pending, chunk, isLost }: Draft): boolean {
  return !isLost && (chunk !== undefined || pending !== '')
}

/**
 * Stores what came in as one chunk and tells the conversation.
 *
 * @returns false when the answer is not this process's to write any more
 * @throws ChatError `unavailable`, `storage_full`: then it is to be tried again
 */
export async function storeNext(ctx: Pick<Context, 'write' | 'now'>, draft: Draft): Promise<boolean> {
  if (draft.chunk === undefined) {
    draft.chunk = draft.pending
    draft.pending = ''
  }
  const content = draft.chunk
  if (!(await ctx.write((tx) => storeChunk(ctx, tx, draft, content)))) return false
  draft.stored++
  draft.chunk = undefined
  return true
}

async function storeChunk(ctx: Pick<Context, 'now'>, tx: Tx, draft: Draft, content: string): Promise<boolean> {
  const { conversation_id, message_id, stored: idx } = draft
  const at = await enterUnattended(ctx, tx, conversation_id)
  if (at === undefined) return false
  const index = await takeIndex(tx, draft, idx)
  // When the connection broke during a commit, the chunk may be there already.
  if (index !== 'taken') return index === 'known'
  await insertChunk(tx, { message_id, idx, content, created_at: at })
  const payload = toDelta({ ...draft, idx }, content)
  tx.emit(conversation_id, { type: 'message.delta', message_id, detail: { idx }, payload })
  return true
}
