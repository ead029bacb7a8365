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

/** Participants that are counted in one transaction: posts to the conversation wait for it. */
const SLICE = 10

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
  const isLate = () => performance.now() >= end || streams.hub.isDraining()
  const isOver = () => isLate() || (progress.is_counted && batches > 0)
  await inBatches(isOver, async () => {
    batches++
    const began = performance.now()
    const { places, last } = await listUncounted(db, progress.after, BATCH)
    for (const id of new Set(places.map(({ conversation_id }) => conversation_id))) {
      const those = places.filter(({ conversation_id }) => conversation_id === id)
      const ids = those.map(({ user_id }) => user_id)
      await countRootsIn(db, id)
      // The rest is found again.
      if (!(await countReadersIn(db, id, ids, isLate))) return performance.now() - began
    }
    progress.after = last ?? FIRST
    if (last) return performance.now() - began
    progress.is_counted = true
    return undefined
  })
}

/** In steps, as a conversation may have any number of threads. */
async function countRootsIn(db: Database, conversationId: string): Promise<void> {
  for (let after: Micros | undefined = 0; after !== undefined; ) {
    const next: Micros | undefined = await db.write(async (tx) => {
      if ((await lockConversation(tx, conversationId)) === undefined) return undefined
      if (!(await isUncounted(tx, conversationId))) return undefined
      const last = await storeFollowed(tx, conversationId, { after: after!, limit: BATCH })
      if (last === undefined) await countRoots(tx, conversationId)
      return last
    })
    after = next
  }
}

/** @returns whether all were counted before it was too late */
async function countReadersIn(
  db: Database,
  conversationId: string,
  userIds: readonly string[],
  isLate: () => boolean,
): Promise<boolean> {
  for (let n = 0; n < userIds.length; n += SLICE) {
    if (n > 0 && isLate()) return false
    await db.write(async (tx) => {
      if ((await lockConversation(tx, conversationId)) === undefined) return
      // An older process has changed it meanwhile: a later run counts it.
      if (await isUncounted(tx, conversationId)) return
      for (const reader of await listReaders(tx, conversationId, userIds.slice(n, n + SLICE)))
        await storeParts(tx, reader, await sumStored(tx, reader))
    })
  }
  return true
}
