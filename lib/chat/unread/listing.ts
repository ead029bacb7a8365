import type { Context } from '../../context.ts'
import { inBatches } from '../../tasks/batches.ts'
import { lockConversation } from '../memberships/store-locks.ts'
import { findUnlisted, listUnlisted } from './store-listing.ts'

/** How long one run takes: a stop waits for it. */
const RUN_MS = 1_000

/**
 * Puts threads into the lists of those who follow them: all threads with replies after an upgrade and the import of an older
 * archive, and those to which a program has replied that knows no such lists. The rest waits for the next run.
 */
export async function listFollowedThreads({ db, streams }: Pick<Context, 'db' | 'streams'>): Promise<void> {
  const end = performance.now() + RUN_MS
  const isOver = () => performance.now() >= end || streams.hub.isDraining()
  await inBatches(isOver, async (size) => {
    const began = performance.now()
    const conversation_id = await findUnlisted(db)
    if (conversation_id === undefined) return undefined
    await db.write(async (tx) => {
      // No reply is stored in the meantime, and no user begins or ends to follow.
      await lockConversation(tx, conversation_id)
      await listUnlisted(tx, conversation_id, size)
    })
    return performance.now() - began
  })
}
