import type { CloseReason } from '../context.ts'
import type { Micros } from '../storage/sql.ts'
import { type Delivery, type Memberships, select } from './delivery.ts'
import { eventId, type Head, startFrom } from './position.ts'
import type { Reader } from './reader.ts'
import { sendEvent } from './sender.ts'
import type { Subscribers } from './subscriptions.ts'

/** A conversation that a user is in, and since when. */
export interface Membership {
  conversation_id: string
  joined_at: Micros
}

/** What catching up needs of the hub. */
export interface CatchUpDeps {
  /** The conversations that a user is in. */
  listMemberships(userId: string): Promise<Membership[]>
  /** The size of a page, in bytes. */
  page_bytes: number
  /** Resolves when it is the reader's turn to be sent a page, and when the reader is closed. */
  turn(reader: Reader): Promise<void>
  /** Closes those readers that have no right to their stream any more. */
  recheck(readers: Reader[]): Promise<void>
  /** Sends what is new, unless the reader is too far behind. */
  send(reader: Reader, delivery: Delivery): void
  close(reader: Reader, reason: CloseReason): void
}

/** Sends what the reader missed, page by page at its own pace, and makes it a live reader once nothing is missing. */
export async function catchUp(
  reader: Reader,
  { channel, liveReaders }: Subscribers,
  last_event_id: string | undefined,
  deps: CatchUpDeps,
): Promise<void> {
  const head = await prepare(reader, channel, deps)
  if (!head) return
  // From here on nothing is awaited when nothing is missed: after `stream.ready` a client gets all that is published.
  let sent = sendStart(reader, head, last_event_id)
  // Nothing is awaited between the last comparison and adding it to the live readers, so no event slips through in between.
  while (sent < channel.position() && !reader.closed) {
    await deps.turn(reader)
    if (reader.closed) return
    const isPast = sent < head.last
    // Not beyond what the others have got: what they get next, this reader gets with them.
    const page = await channel.page(sent, isPast ? head.last : channel.position(), deps.page_bytes)
    if (reader.closed) return
    if (!page) {
      // What comes next is deleted: with the conversation, or by retention. `stream.reset` says so when the client reconnects.
      await deps.recheck([reader])
      deps.close(reader, 'too_slow')
      return
    }
    if (isPast) reader.sink.write(reader.memberships ? select(page, reader.memberships) : page)
    else deps.send(reader, page)
    sent = page.seq
    await reader.sink.drained()
  }
  if (!reader.closed) liveReaders.add(reader)
}

/** How far the log is, with the channel there, too; nothing when the reader has no right to its stream any more. */
async function prepare(reader: Reader, channel: Subscribers['channel'], deps: CatchUpDeps): Promise<Head | undefined> {
  await channel.advance()
  const head = await channel.source.head()
  // After the head is read: a removal before it is seen here, a later one by its event.
  if (reader.conversation_id === undefined)
    reader.memberships = await loadMemberships(deps, reader.user_id, head?.last ?? 0)
  await deps.recheck([reader])
  if (!head || reader.closed) return undefined
  if (channel.position() < head.last) await channel.advance()
  return head
}

/** @returns the number of the last event that the reader has */
function sendStart(reader: Reader, head: Head, last_event_id: string | undefined): number {
  const start = startFrom(last_event_id, head)
  const { resumed, seq } = start
  const id = eventId(head.epoch, seq)
  const { conversation_id } = reader
  const where = conversation_id === undefined ? {} : { conversation_id, seq }
  sendEvent(reader, { type: 'stream.ready', payload: { ...where, resumed, last_event_id: id } }, id)
  if (!resumed && start.reason)
    sendEvent(reader, { type: 'stream.reset', payload: { reason: start.reason, last_event_id: id } })
  return seq
}

async function loadMemberships(deps: CatchUpDeps, user_id: string, since: number): Promise<Memberships> {
  const rows = await deps.listMemberships(user_id)
  return { user_id, since, joined: new Map(rows.map((each) => [each.conversation_id, each.joined_at])) }
}
