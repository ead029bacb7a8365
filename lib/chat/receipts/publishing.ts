import type { Config } from '../../config/parse.ts'
import type { Log } from '../../context.ts'
import { causeText } from '../../core/errors.ts'
import { createCoalescer } from '../../core/scheduling/coalesce.ts'
import { warnOnce } from '../../core/scheduling/once.ts'
import { toInstant } from '../../core/time.ts'
import type { Hub } from '../../live/hub/hub.ts'
import type { Database } from '../../storage/database.ts'
import { type PolicyColumns, toPolicy } from '../memberships/rules-settings.ts'
import { listSmall } from '../presence/store.ts'
import {
  type ConversationMarkerKey,
  listMoved,
  listMovedIn,
  listUnshared,
  type MarkerKey,
  type MovedMarker,
} from './store-publishing.ts'

/** Markers are gathered for so long; the last place of each counts. */
const GATHER_MS = 1_000

/** A conversation with more participants gets no events. */
const MAX_PARTICIPANTS = 200

/** The maximum number of waiting markers. Further ones are dropped: the lists stay right. */
const MAX_WAITING = 10_000

/** The markers that are read at once. */
const BATCH = 500

/** Tells the participants of conversations with read receipts whose read markers have moved. */
export type ReadUpdates = ReturnType<typeof createReadUpdates>

/** What decides, in the transaction that moves a marker, whether others see it. */
type Place = Partial<PolicyColumns> & { receipts?: number }

/** Creates the sender of one process. It sends what is stored at that time, so it needs only the keys of the markers. */
export function createReadUpdates(deps: { config: Pick<Config, 'receipts'>; db: Database; hub: Hub; log: Log }) {
  const { config, db, hub, log } = deps
  const fail = warnOnce((error: unknown) => log.warn('Read markers could not be sent', { cause: causeText(error) }))
  const moves = createCoalescer(GATHER_MS, send, MAX_WAITING)

  async function send(keys: string[]): Promise<void> {
    try {
      for (let start = 0; start < keys.length; start += BATCH) await sendBatch(keys.slice(start, start + BATCH))
      fail.reset()
    } catch (error) {
      fail(error)
    }
  }

  async function sendBatch(keys: string[]): Promise<void> {
    // All read at one moment: users who no longer share receipts get nothing that moved later.
    const { markers, small, unshared } = await db.snapshot(async (queries) => {
      const moved = keys.map(fromKey)
      const found = [
        ...(await listMoved(
          queries,
          moved.flatMap((key) => ('root_id' in key ? key : [])),
        )),
        ...(await listMovedIn(
          queries,
          moved.flatMap((key) => ('scope' in key ? key : [])),
        )),
      ]
      const markers = found.filter((marker) => toPolicy(marker).receipts === 'on')
      const ids = new Set(markers.map(({ conversation_id }) => conversation_id))
      if (ids.size === 0) return { markers: [], small: new Set<string>(), unshared: [] }
      const small = new Set(await listSmall(queries, ids, MAX_PARTICIPANTS))
      return { markers, small, unshared: small.size > 0 ? await listUnshared(queries, small) : [] }
    })
    for (const marker of markers) {
      const { conversation_id } = marker
      if (!small.has(conversation_id)) continue
      const without = unshared.flatMap((marker) => (marker.conversation_id === conversation_id ? marker.user_id : []))
      hub.publishEphemeral(conversation_id, toEvent(marker), without.length > 0 ? without : undefined)
    }
  }

  return {
    /** A marker has moved, and that is durable. Costs nothing where others do not see it. */
    moved(place: Place, rootId: string, userId: string): void {
      if (isShared(config, place)) moves.add(`${rootId} ${userId}`)
    },
    /** As `moved`, a marker of the whole conversation. */
    movedIn(place: Place & { conversation_id: string }, userId: string, scope: 'roots' | 'all'): void {
      if (isShared(config, place)) moves.add(`${place.conversation_id} ${userId} ${scope}`)
    },
    flush: moves.flush,
    close: moves.close,
  }
}

/** Whether others see a marker. */
function isShared({ receipts: { enabled } }: Pick<Config, 'receipts'>, place: Place): boolean {
  const { is_direct = 0, policy = null, receipts = 0 } = place
  return enabled && receipts === 1 && toPolicy({ is_direct, policy }).receipts === 'on'
}

function fromKey(key: string): MarkerKey | ConversationMarkerKey {
  const [id, user_id, scope] = key.split(' ') as [string, string, string?]
  return scope === undefined ? { root_id: id, user_id } : { conversation_id: id, user_id, scope }
}

function toEvent({ conversation_id, root_id, user_id, read_at, scope }: MovedMarker) {
  const at = read_at > 0 ? { read_at: toInstant(read_at) } : {}
  return {
    type: 'read.update' as const,
    payload: { conversation_id, root_id, user_id, ...at, ...(scope && { scope }) },
  }
}
