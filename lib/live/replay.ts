import type { CloseReason, StreamEvent } from '../context.ts'
import type { Micros } from '../storage/sql.ts'
import type { Channel } from './channel.ts'
import { type Delivery, type Places, select } from './delivery.ts'
import { eventId, type Head, startFrom } from './position.ts'
import type { Reader } from './reader.ts'

/** A conversation that a user is in, and since when. */
export interface Membership {
  conversation_id: string
  joined_at: Micros
}

/** What bringing a reader up to date needs of the hub. */
export interface Late {
  /** The conversations that a user is in. */
  listMemberships(userId: string): Promise<Membership[]>
  /** The size of a page, in bytes. */
  page_bytes: number
  /** Resolves when it is the reader's turn to be sent a page, and when the reader is closed. */
  turn(reader: Reader): Promise<void>
  /** Closes the reader if it has no right to its stream any more. */
  recheck(reader: Reader): Promise<void>
  tell(reader: Reader, event: StreamEvent, id?: string): void
  /** Sends what is new, unless the reader is too far behind. */
  send(reader: Reader, delivery: Delivery): void
  close(reader: Reader, reason: CloseReason): void
  /** From now on the reader gets what its audience gets. */
  join(reader: Reader): void
}

/** Sends what the reader missed, page by page at its own pace, and has it join the others once nothing is missing. */
export async function catchUp(
  reader: Reader,
  channel: Channel,
  last_event_id: string | undefined,
  late: Late,
): Promise<void> {
  const head = await prepare(reader, channel, late)
  if (!head) return
  // From here on nothing is awaited when nothing is missed: who has read `stream.ready` gets all that is said.
  let sent = tellStart(reader, head, last_event_id, late)
  // Nothing is awaited between the last comparison and joining the others, so no event slips through in between.
  while (sent < channel.position() && !reader.closed) {
    await late.turn(reader)
    if (reader.closed) return
    const isPast = sent < head.last
    // Not beyond what the others have got: what they get next, this reader gets with them.
    const page = await channel.page(sent, isPast ? head.last : channel.position(), late.page_bytes)
    if (reader.closed) return
    if (!page) {
      // What comes next is gone: with the conversation, or it was kept long enough. A reader that comes back is told.
      await late.recheck(reader)
      late.close(reader, 'too_slow')
      return
    }
    if (isPast) reader.sink.write(reader.places ? select(page, reader.places) : page)
    else late.send(reader, page)
    sent = page.seq
    await reader.sink.drained()
  }
  if (!reader.closed) late.join(reader)
}

/** How far the log is, with the channel there, too; nothing when the reader has no right to its stream any more. */
async function prepare(reader: Reader, channel: Channel, late: Late): Promise<Head | undefined> {
  await channel.advance()
  const head = await channel.source.head()
  // After the head is read: who was removed before is seen here, who is removed later by the event of it.
  if (reader.conversation_id === undefined) reader.places = await findPlaces(late, reader.user_id, head?.last ?? 0)
  await late.recheck(reader)
  if (!head || reader.closed) return undefined
  if (channel.position() < head.last) await channel.advance()
  return head
}

/** @returns the number of the last event that the reader has */
function tellStart(reader: Reader, head: Head, last_event_id: string | undefined, { tell }: Late): number {
  const start = startFrom(last_event_id, head)
  const { resumed, seq } = start
  const id = eventId(head.epoch, seq)
  const { conversation_id } = reader
  const where = conversation_id === undefined ? {} : { conversation_id, seq }
  tell(reader, { type: 'stream.ready', payload: { ...where, resumed, last_event_id: id } }, id)
  if (!resumed && start.reason)
    tell(reader, { type: 'stream.reset', payload: { reason: start.reason, last_event_id: id } })
  return seq
}

async function findPlaces({ listMemberships }: Late, user_id: string, since: number): Promise<Places> {
  const places = await listMemberships(user_id)
  return { user_id, since, joined: new Map(places.map((each) => [each.conversation_id, each.joined_at])) }
}
