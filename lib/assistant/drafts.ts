import { toDelta } from '../chat/answers/rules.ts'
import { insertChunk, takeIndex } from '../chat/answers/store.ts'
import { lockAsSystem } from '../chat/memberships/access.ts'
import type { Context } from '../context.ts'
import { wholeLength } from '../core/whole-text.ts'
import type { Tx } from '../live/transaction/transaction.ts'

/** An answer that this process writes. */
export interface Draft {
  message_id: string
  conversation_id: string
  root_id: string
  parent_id: string | null
  depth: number
  writer: string
  /** Received text that is in no chunk yet. */
  pending: string
  /** The maximum length of a chunk; missing for an answer, of which all that has arrived is one. */
  chunk_length?: number
  /** A chunk whose write has not succeeded yet: it is retried unchanged. */
  chunk?: string | undefined
  /** The number of stored chunks. */
  stored: number
  /** Whether this process has lost the answer. */
  isLost?: boolean
}

/** Whether it has text that is not stored. */
export function isBehind({ pending, chunk, isLost }: Draft): boolean {
  return !isLost && (chunk !== undefined || pending !== '')
}

/**
 * Stores the new text of these answers of one conversation, one chunk each, with its events. Answers that this process
 * has lost are marked as lost.
 *
 * @throws ChatError `unavailable`, `storage_full`: the caller retries
 */
export async function storeChunks(
  ctx: Pick<Context, 'write' | 'now'>,
  conversationId: string,
  drafts: Draft[],
): Promise<void> {
  for (const draft of drafts) {
    if (draft.chunk !== undefined) continue
    const next = draft.pending.slice(0, draft.chunk_length)
    draft.chunk = next.length < draft.pending.length ? next.slice(0, wholeLength(next)) : next
    draft.pending = draft.pending.slice(draft.chunk.length)
  }
  const held = await ctx.write(async (tx) => {
    const at = await lockAsSystem(ctx, tx, conversationId)
    const held = new Set<Draft>()
    if (at === undefined) return held
    for (const draft of drafts) if (await storeChunk(tx, draft, draft.chunk!, at)) held.add(draft)
    return held
  })
  for (const draft of drafts) {
    draft.isLost = !held.has(draft)
    draft.stored++
    draft.chunk = undefined
  }
}

/** @returns false when this process has lost the answer */
async function storeChunk(tx: Tx, draft: Draft, content: string, created_at: number): Promise<boolean> {
  const { conversation_id, message_id, stored: idx } = draft
  const index = await takeIndex(tx, draft, idx)
  // If the connection broke during a commit, the chunk may already be stored.
  if (index !== 'taken') return index === 'known'
  await insertChunk(tx, { message_id, idx, content, created_at })
  const payload = toDelta({ ...draft, idx }, content)
  tx.emit(conversation_id, { type: 'message.delta', message_id, detail: { idx }, payload })
  return true
}
