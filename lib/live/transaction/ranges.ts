import type { PersistedEvent } from '../../context.ts'
import type { FeedRow } from '../feed/feed-order.ts'
import type { Addition } from '../log/appending.ts'
import type { NewPrivateEvent } from '../log/private.ts'
import type { EventRange } from './commits.ts'

/** New events with their numbers, as a read of the log would return them, if the payloads of all are known. */
export function toRange(
  { conversation_id, at, events }: Addition,
  before: number,
  ids: Map<string, number[]>,
): EventRange {
  const lines = events.map(({ type, payload }, index) => {
    const event = payload && ({ type, payload } as PersistedEvent)
    return { seq: before + 1 + index, conversation_id, at, ...(event && { event }) }
  })
  const known = lines.every((line) => line.event) ? lines : []
  return {
    conversation_id,
    first: before + 1,
    last: before + events.length,
    known,
    ids: ids.get(conversation_id) ?? [],
  }
}

/** A new private event, as the range of itself. */
export function toPrivateRange({ conversation_id, for_user_id, event }: NewPrivateEvent, row: FeedRow): EventRange {
  const line = { seq: row.seq, conversation_id, at: row.created_at, for_user_id, event }
  return { conversation_id, first: row.seq, last: row.seq, known: [line], ids: [row.id] }
}

/** The numbers of new lines among all events, by conversation and in its order. */
export function idsOf(rows: FeedRow[]): Map<string, number[]> {
  const ids = new Map<string, number[]>()
  for (const { conversation_id, id } of rows) {
    const some = ids.get(conversation_id)
    if (some) some.push(id)
    else ids.set(conversation_id, [id])
  }
  return ids
}
