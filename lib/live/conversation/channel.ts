import { ChatError } from '../../core/errors.ts'
import { repeatIfCalled } from '../../core/scheduling/once.ts'
import type { Origin } from '../feed/lag.ts'
import type { Head } from '../log/event-ids.ts'
import type { NumberedEvent } from '../log/log.ts'
import { type Delivered, type Delivery, encode, withIds } from '../readers/delivery.ts'
import { createEphemeralEvents } from '../readers/ephemeral.ts'
import type { MissedPage } from './shared-pages.ts'

/** The log of a conversation. */
export interface Source {
  /** The ends of the log; `undefined` for a deleted conversation. */
  head(): Promise<Head | undefined>
  /** Up to `limit` lines after `seq`, in order; fewer if they are long. */
  read(seq: number, limit: number): Promise<Page>
}

/** Some lines of a log, and whether they are the last ones. */
export interface Page {
  lines: NumberedEvent[]
  isLast: boolean
}

/** The number of lines that one read of the log returns. */
const PAGE = 64

/** More events than this, which wait while the log is read, are read from it. */
const MAX_OFFERED = 1_024

/** What a channel does with new events. */
export interface ChannelDeps {
  /** Is called with each page of them, and the origin of its first event, unless all are ephemeral. */
  deliver(delivery: Delivery, origin: Origin | undefined): void
  /** New events of the log with what follows from them. */
  complete(events: Delivered[]): Delivered[]
  /** Is awaited between their read and their delivery, if it returns a promise. */
  beforeDelivery(): Promise<void> | undefined
}

/** A log that this process follows. */
export type Channel = ReturnType<typeof createChannel>

/**
 * Follows a log from its end. A commit calls `advance`, which reads the new events from the log. So the channel delivers
 * only durable events, in the order of the log.
 */
export function createChannel(source: Source, { deliver, complete, beforeDelivery }: ChannelDeps) {
  let epoch = ''
  let seq = 0
  const ephemeral = createEphemeralEvents()
  const offered = createOffered()

  const opened = headOf(source).then((head) => {
    epoch = head.epoch
    seq = head.last
  })
  // `advance` rejects with the same error.
  opened.catch(() => {})

  const readOn = repeatIfCalled(readPages, () => opened)

  async function readPages(): Promise<void> {
    while (!(await readPage()));
  }

  /** @returns whether the log has no further lines at present */
  async function readPage(): Promise<boolean> {
    // Listed before the read: an event published during the read may refer to an event that is not in this page.
    const published = ephemeral.list()
    const { page, since } = offered.takeAfter(seq)
    const endRead = offered.beginRead()
    const { lines, isLast } = page ?? (await source.read(seq, PAGE))
    await beforeDelivery()
    const events = [...complete(withIds(epoch, lines)), ...(isLast ? ephemeral.take(published) : [])]
    seq = lines.at(-1)?.seq ?? seq
    if (!page) endRead(isLast)
    if (events.length > 0) deliver(encode(events), lines[0] && { at: lines[0].at, since })
    return isLast
  }

  return {
    source,
    /** The number of the last delivered event. */
    position: () => seq,
    /** Delivers all new events, these or others; a call during a run makes it read again. @throws ChatError `not_found` */
    advance(events?: NumberedEvent[]): Promise<void> {
      offered.add(events)
      return readOn()
    },
    /** Sends an ephemeral event with the next delivery. It replaces earlier ones about the same subject. */
    publish: ephemeral.add,
    hasEphemeral: () => !ephemeral.isEmpty(),
    /** The events after `from`, up to `to`, for a reader that is behind; `undefined` if they are deleted. */
    page: (from: number, to: number, bytes: number) => pageOf(source, epoch, { from, to, bytes }),
  }
}

async function headOf(source: Source): Promise<Head> {
  const head = await source.head()
  if (!head) throw new ChatError('not_found')
  return head
}

/** Events that this process has committed, until all events before them are delivered. */
function createOffered() {
  const offered: { line: NumberedEvent; since: number }[] = []
  const others = createOthers()
  let unread_since: number | undefined
  return {
    /** @param events none: this process has committed some that must be read; `undefined`: another one may have */
    add(events: NumberedEvent[] | undefined): void {
      const since = performance.now()
      if (events?.length === 0) unread_since ??= since
      if (!events || events.length === 0) others.add()
      else for (const line of events) offered.push({ line, since })
      if (offered.length <= MAX_OFFERED) return
      unread_since ??= offered[0]!.since
      offered.length = 0
      others.add()
    },

    /**
     * The offered events that follow `seq` without a gap, or no page if the caller must read the log now; and when this
     * process had committed the first event. Drops those that the log has returned since.
     */
    takeAfter(seq: number): { page?: Page; since: number | undefined } {
      offered.sort((a, b) => a.line.seq - b.line.seq)
      while (offered.length > 0 && offered[0]!.line.seq <= seq) offered.shift()
      let count = 0
      while (offered[count]?.line.seq === seq + 1 + count) count++
      if (count > 0) {
        const entries = offered.splice(0, Math.min(count, PAGE))
        const page = { lines: entries.map(({ line }) => line), isLast: offered.length === 0 && others.areRead() }
        return { page, since: entries[0]!.since }
      }
      const since = unread_since
      unread_since = undefined
      return { since }
    },
    beginRead: others.beginRead,
  }
}

/** Whether a log may have events that were not offered: then the offered ones are not the end of it. */
function createOthers() {
  // How often it may have got some, and up to which of these times it was read to its end.
  let added = 0
  let read = 0
  return {
    add(): void {
      added++
    },
    areRead: () => read === added,
    /** Begins a read of the log. @returns a function to call after it, with whether the page was the last one */
    beginRead() {
      const before = added
      return (isLast: boolean): void => {
        if (isLast) read = before
        else added++
      }
    },
  }
}

/**
 * The events of a log after `from`, up to `to`, for a reader that is behind; `undefined` if they are deleted.
 *
 * @param range.bytes no event is added after the page has reached this length
 */
async function pageOf(
  source: Source,
  epoch: string,
  { from, to, bytes }: { from: number; to: number; bytes: number },
): Promise<MissedPage | undefined> {
  const page = (await source.read(from, PAGE)).lines.filter((event) => event.seq <= to)
  if (page[0]?.seq !== from + 1) return undefined
  const known = page.filter((each) => each.event)
  const delivery = encode(withIds(epoch, known), bytes)
  const isWhole = delivery.events.length === known.length
  return { ...delivery, seq: isWhole ? page.at(-1)!.seq : known[delivery.events.length - 1]!.seq }
}
