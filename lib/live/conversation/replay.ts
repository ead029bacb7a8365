import type { CloseReason } from '../../context.ts'
import type { ReplaySlots } from '../hub/replay-slots.ts'
import { eventId, type Head, startFrom } from '../log/event-ids.ts'
import type { Delivery } from '../readers/delivery.ts'
import type { Reader } from '../readers/reader.ts'
import { sendStart } from '../readers/sender.ts'
import { awaitPage } from './shared-pages.ts'
import type { Subscribers } from './subscriptions.ts'

/** The functions of the hub that `catchUp` needs. */
export interface CatchUpDeps {
  /** Whether the streams of a conversation get presence events. */
  getsPresence(conversationId: string): Promise<boolean>
  /** The size of a page, in bytes. */
  page_bytes: number
  /** The right to be sent missed events, which few readers have at the same time. */
  slots: ReplaySlots
  /** Resolves when the client has read what it was sent, or the reader is closed. */
  drained(reader: Reader): Promise<void>
  /** Does a part of the work for a reader, or some, at its turn. @returns `undefined` if a reader is closed before */
  turn<T>(entry: Reader | Reader[], work: () => Promise<T>): Promise<T | undefined>
  /** Closes a reader that has lost the right to its stream. */
  recheck(reader: Reader): Promise<void>
  /** Sends missed events. */
  write(reader: Reader, delivery: Delivery): void
  /** Sends new events; closes a reader that is too far behind. */
  send(reader: Reader, delivery: Delivery): void
  close(reader: Reader, reason: CloseReason): void
}

/** Sends the missed events, page by page at the reader's own pace, then makes it a live reader. */
export async function catchUp(
  reader: Reader,
  { channel, liveReaders, pages }: Subscribers,
  last_event_id: string | undefined,
  deps: CatchUpDeps,
): Promise<void> {
  const head = await prepare(reader, channel, deps)
  if (!head) return
  // Without missed events nothing is awaited from here on: after `stream.ready` a client gets every published event.
  let sent = begin(reader, head, last_event_id)
  // Nothing is awaited between the last comparison and `liveReaders.add`, so the reader misses no event.
  while (sent < channel.position() && !reader.closed) {
    if (!(await deps.slots.take(reader))) return
    const isPast = sent < head.last
    // Not beyond the position of the live readers: this reader gets later events together with them.
    const range = { from: sent, to: isPast ? head.last : channel.position() }
    const read = () => channel.page(range.from, range.to, deps.page_bytes)
    const page = await awaitPage(pages, reader, range, { read, turn: deps.turn })
    if (reader.closed) return
    if (!page) {
      // The next events are deleted, with the conversation or by retention: the client gets `stream.reset` after it
      // reconnects.
      await deps.recheck(reader)
      deps.close(reader, 'too_slow')
      return
    }
    if (isPast) deps.write(reader, page)
    else deps.send(reader, page)
    sent = page.seq
    await deps.drained(reader)
    deps.slots.leave(reader)
  }
  if (!reader.closed) liveReaders.add(reader)
}

/** The ends of the log, with the channel advanced to the last event; `undefined` if the reader has lost its right. */
async function prepare(reader: Reader, channel: Subscribers['channel'], deps: CatchUpDeps): Promise<Head | undefined> {
  await channel.advance()
  const [head, getsPresence] = await Promise.all([channel.source.head(), deps.getsPresence(reader.conversation_id!)])
  reader.gets_presence = getsPresence
  await deps.recheck(reader)
  if (!head || reader.closed) return undefined
  if (channel.position() < head.last) await channel.advance()
  return head
}

/** @returns the number of the last event that the reader has */
function begin(reader: Reader, head: Head, last_event_id: string | undefined): number {
  const start = startFrom(last_event_id, head)
  sendStart(reader, { ...start, id: eventId(head.epoch, start.seq) })
  return start.seq
}
