import { photosOf } from '../../accounts/users/photos.ts'
import type { Context } from '../../context.ts'
import { toInstant } from '../../core/time.ts'
import type { FeedRow } from '../../live/feed/feed-order.ts'
import type { NumberedEvent } from '../../live/log/log.ts'
import { type History, toEventName } from '../../storage/histories.ts'
import { compose } from '../events/render.ts'
import { subjectsIn } from '../events/subjects.ts'
import { withTexts } from '../messages/completing.ts'
import type { Message } from '../messages/schema.ts'
import { listLightMessages, toMessage } from '../messages/store.ts'
import type { FeedEvent } from './schema.ts'

/** The maximum size of the events of an answer, and of the message of one event. */
export const MAX_BYTES = 1024 * 1024

/** A row of the log, with the position after it. */
export interface PlacedRow {
  row: FeedRow
  position: string
}

/** An event with its size as JSON; the event is missing if what it was about is erased. */
export interface Composed {
  event?: FeedEvent
  bytes: number
}

/** What the events of one call share. */
export interface Composing {
  histories: readonly History[]
  /** Whether the events have the host's own ids of the users that they name. */
  hasSubjects: boolean
}

/** The events of as many rows as can be read at once, and at least of the first. */
export async function composeEvents(
  { db, config, now }: Pick<Context, 'db' | 'config' | 'now'>,
  placed: PlacedRow[],
  { histories, hasSubjects }: Composing,
): Promise<Composed[]> {
  const lines = await compose(
    db,
    placed.map(({ row }) => row),
    { photos: photosOf(config), now: now() },
  )
  const messages = await listDone(db, lines)
  const subjects = hasSubjects
    ? await subjectsIn(
        db,
        lines.map(({ event }) => event),
      )
    : []
  return lines.map(({ event, seq, conversation_id, at, for_user_id }, n): Composed => {
    if (!event) return { bytes: 0 }
    const { row, position } = placed[n]!
    const number = for_user_id === undefined && { seq }
    const envelope = {
      id: toEventName(histories, row.id),
      position,
      timestamp: toInstant(at),
      conversation_id,
      ...number,
    }
    const named = hasSubjects && { subjects: subjects[n]! }
    const message = event.type === 'message.done' ? messages.get(event.payload.message_id) : undefined
    const data = { ...event.payload, ...(message && { message }) }
    return sized({ ...envelope, ...named, type: event.type, data } as FeedEvent)
  })
}

/** Left out is a message that is larger than an answer may be. */
function sized(event: FeedEvent): Composed {
  const bytes = sizeOf(event)
  if (bytes <= MAX_BYTES || event.type !== 'message.done') return { event, bytes }
  const { message: _, ...data } = event.data
  const light: FeedEvent = { ...event, data }
  return { event: light, bytes: sizeOf(light) }
}

const sizeOf = (event: FeedEvent) => Buffer.byteLength(JSON.stringify(event))

/** The messages of the answers that are done, by id. By primary keys. */
async function listDone(db: Context['db'], lines: NumberedEvent[]): Promise<Map<string, Message>> {
  const ids = lines.flatMap(({ event }) => (event?.type === 'message.done' ? event.payload.message_id : []))
  if (ids.length === 0) return new Map()
  const rows = await withTexts(db, await listLightMessages(db, new Set(ids)))
  return new Map(rows.map((row) => [row.id, toMessage(row)]))
}
