import { ReceiveError } from './receive-error.ts'
import type { ReceiveStore } from './receive-store.ts'
import type { AppliedEvent, Effect } from './received-event.ts'

/** What became of some events. */
export interface Applied {
  applied: number
  /** Applied before. */
  skipped: number
  /** Where the events continue, as far as it is known. */
  position?: string
}

/** Where a page of the feed was read from, and where the next one begins. */
export interface PageMove {
  /** The stored position; `null` before the first page. */
  after: string | null
  position: string
}

/**
 * Applies each of these events once: ids, effects and, with `page`, the position commit in one transaction, in which ids
 * that are stored are skipped. After an error with an unknown outcome call it again: the ids decide.
 *
 * @throws ReceiveError `position_moved` if the stored position is not `page.after`: nothing is applied; `not_atomic`
 */
export async function applyOnce<Tx>(
  store: ReceiveStore<Tx>,
  source: string,
  events: readonly AppliedEvent[],
  effect: Effect<Tx>,
  page?: PageMove,
): Promise<Applied> {
  assertApplicable(store, source, effect)
  if (!Array.isArray(events)) throw new ReceiveError('malformed', '"events" must be a list')
  const byId = new Map(events.map((event) => [event.id, event]))
  const applied = await store.apply({
    source,
    ids: [...byId.keys()],
    run: (tx, id) => effect(tx, byId.get(id)!),
    ...(page && { move: { cursor: 'pulled', from: page.after, to: page.position } }),
  })
  if (applied === undefined)
    throw new ReceiveError('position_moved', `Another process has moved the position of "${source}"`)
  const position = page?.position ?? events.at(-1)?.position
  return { applied, skipped: events.length - applied, ...(position !== undefined && { position }) }
}

/** @throws ReceiveError `malformed` for what programs without types may pass */
export function assertApplicable(store: unknown, source: unknown, effect: unknown): void {
  if (typeof (store as ReceiveStore<unknown> | undefined)?.apply !== 'function')
    throw new ReceiveError('malformed', '"store" must be what pgStore(pool) or sqliteStore(db) returned')
  if (typeof source !== 'string' || !source)
    throw new ReceiveError('malformed', '"source" must be a name for where the events come from')
  if (typeof effect !== 'function') throw new ReceiveError('malformed', '"effect" must be a function: (tx, event) => …')
}
