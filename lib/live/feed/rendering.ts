import type { PersistedEvent } from '../../context.ts'
import { eventId } from '../log/event-ids.ts'
import type { EventRow, NumberedEvent } from '../log/log.ts'
import type { Delivered } from '../readers/delivery.ts'
import type { Feed } from './feed.ts'
import type { FeedRow, Place } from './feed-order.ts'

/** More events than this, which this process has committed and not yet found in the log, are read from it. */
const MAX_KNOWN = 10_000

/** Renders rows of the log of all conversations; events that this process has just committed are not read again. */
export function createRendering(feed: Feed, compose: (rows: EventRow[]) => Promise<NumberedEvent[]>) {
  const known = new Map<string, PersistedEvent>()
  return {
    /** Adds events that were just committed. */
    offer(events: NumberedEvent[]): void {
      if (known.size > MAX_KNOWN) known.clear()
      for (const event of events) if (event.event) known.set(keyOf(event), event.event)
    },
    /** The events that were added and not rendered, before a read of the log. */
    offered: () => [...known.keys()],
    /** Forgets events: the log had returned them before they were added. */
    forget(keys: readonly string[]): void {
      for (const key of keys) known.delete(key)
    },
    clear: () => known.clear(),

    /** The events of as many rows as can be read at once; `undefined` for one whose subject is deleted. */
    async render(rows: [row: FeedRow, place: Place][], epoch: string): Promise<(Delivered | undefined)[]> {
      const unknown = rows.filter(([row]) => !known.has(keyOf(row))).map(([row]) => row)
      const read = unknown.length > 0 ? await compose(unknown) : []
      const composed = new Map(read.map((row) => [keyOf(row), row.event]))
      const rendered: (Delivered | undefined)[] = []
      for (const [row, after] of rows) {
        const key = keyOf(row)
        if (!known.has(key) && !composed.has(key)) break
        const event = known.get(key) ?? composed.get(key)
        known.delete(key)
        rendered.push(event && { ...placeOf(row), event, id: eventId(epoch, feed.format(after)) })
      }
      return rendered
    },
  }
}

/** What an event has beside its id: a private one has its user instead of a number. */
function placeOf({ conversation_id, seq, created_at: at, for_user_id }: EventRow): Omit<Delivered, 'event'> {
  return for_user_id === null ? { conversation_id, seq, at } : { conversation_id, at, for_user_id }
}

const keyOf = ({ conversation_id, seq }: { conversation_id: string; seq: number }) => `${conversation_id}/${seq}`
