import type { Context } from '../../context.ts'
import type { Database } from '../../storage/database.ts'
import type { Micros } from '../../storage/sql.ts'
import { inBatches } from '../../tasks/batches.ts'
import { lockConversation } from '../memberships/store-locks.ts'
import { sumStored } from './store.ts'
import { storeFollowed } from './store-follows.ts'
import { countRoots, isUncounted, listReaders, listUncounted, type Place, storeParts } from './store-uncounted.ts'

/** How long one run takes: a stop waits for it. */
const RUN_MS = 1_000

/** Participants that are looked at together. */
const BATCH = 500

/** Where the next run continues. */
export interface CountingProgress {
  after: Place
  /** Whether all participants were looked at since the start. From then on a run looks at one batch. */
  is_counted: boolean
}

export const FIRST: Place = { conversation_id: '', user_id: '' }

/**
 * Counts the parts of what is unread where they are not: of all participants after the upgrade, and where an older process has
 * changed a conversation. Until then reads sum them up.
 */
export async function countUncounted(
  { db, streams }: Pick<Context, 'db' | 'streams'>,
  progress: CountingProgress,
): Promise<void> {
  const end = performance.now() + RUN_MS
  let batches = 0
  const isOver = () => performance.now() >= end || streams.hub.isDraining() || (progress.is_counted && batches > 0)
  await inBatches(isOver, async () => {
    batches++
    const began = performance.now()
    const { places, last } = await listUncounted(db, progress.after, BATCH)
    for (const id of new Set(places.map(({ conversation_id }) => conversation_id))) {
      const those = places.filter(({ conversation_id }) => conversation_id === id)
      await countIn(
        db,
        id,
        those.map(({ user_id }) => user_id),
      )
    }
    progress.after = last ?? FIRST
    if (last) return performance.now() - began
    progress.is_counted = true
    return undefined
  })
}

/** In steps, as a conversation may have any number of threads. */
async function countIn(db: Database, conversationId: string, userIds: string[]): Promise<void> {
  for (let after: Micros | undefined = 0; after !== undefined; ) {
    const next: Micros | undefined = await db.write(async (tx) => {
      if ((await lockConversation(tx, conversationId)) === undefined) return undefined
      if (await isUncounted(tx, conversationId)) {
        const last = await storeFollowed(tx, conversationId, { after: after!, limit: BATCH })
        if (last !== undefined) return last
        await countRoots(tx, conversationId)
      }
      for (const reader of await listReaders(tx, conversationId, userIds))
        await storeParts(tx, reader, await sumStored(tx, reader))
      return undefined
    })
    after = next
  }
}
