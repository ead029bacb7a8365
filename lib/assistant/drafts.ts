import { toDelta } from '../chat/answers/rules.ts'
import { insertChunk, takeIndex } from '../chat/answers/store.ts'
import { lockAsSystem } from '../chat/conversations/access.ts'
import type { Context } from '../context.ts'
import type { Tx } from '../live/transaction.ts'

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
  /** It is not this process's to write any more. */
  isLost?: boolean
}

/** Whether something came in that is not stored. */
export function isBehind({ pending, chunk, isLost }: Draft): boolean {
  return !isLost && (chunk !== undefined || pending !== '')
}

/**
 * Stores what came in of these answers of one conversation, a chunk of each, and tells the conversation. What is not
 * this process's to write any more is marked as lost.
 *
 * @throws ChatError `unavailable`, `storage_full`: then it is to be tried again
 */
export async function storeChunks(
  ctx: Pick<Context, 'write' | 'now'>,
  conversationId: string,
  drafts: Draft[],
): Promise<void> {
  for (const draft of drafts) {
    if (draft.chunk !== undefined) continue
    draft.chunk = draft.pending
    draft.pending = ''
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

/** @returns false when the answer is not this process's to write any more */
async function storeChunk(tx: Tx, draft: Draft, content: string, created_at: number): Promise<boolean> {
  const { conversation_id, message_id, stored: idx } = draft
  const index = await takeIndex(tx, draft, idx)
  // When the connection broke during a commit, the chunk may be there already.
  if (index !== 'taken') return index === 'known'
  await insertChunk(tx, { message_id, idx, content, created_at })
  const payload = toDelta({ ...draft, idx }, content)
  tx.emit(conversation_id, { type: 'message.delta', message_id, detail: { idx }, payload })
  return true
}
