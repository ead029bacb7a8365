import { ChatError } from '../errors.ts'
import type { Database } from '../storage/database.ts'
import { type NumberedEvent, readLog } from './compose.ts'
import { eventId, toFrame } from './rules.ts'
import type { ConversationStreamEvent, PassingEvent } from './schema.ts'
import { findHead } from './store.ts'

/** An event with its id; those that are not persisted have none. */
export interface Delivered {
  id?: string
  event: ConversationStreamEvent
}

/** Events and the bytes that say them: encoded once, whoever reads them. */
export interface Delivery {
  bytes: Uint8Array
  events: Delivered[]
}

/** How many lines of the log are read at a time. */
const PAGE = 64

/** The log of one conversation, followed in this process. */
export type Channel = ReturnType<typeof createChannel>

/**
 * Follows a conversation's log from its end on. The log is the only source: whoever commits merely says that there is
 * more, with `advance`. So nothing is delivered that is not durable, and the order is that of the log.
 *
 * @param deliver is called with what is new, as often as there is more
 */
export function createChannel(db: Database, id: string, deliver: (delivery: Delivery) => void) {
  let epoch = ''
  let seq = 0
  const passing = new Map<string, PassingEvent>()
  let stale = false
  let advancing: Promise<void> | undefined

  const opened = findHead(db, id).then((head) => {
    if (!head) throw new ChatError('not_found')
    ;({ epoch, last: seq } = head)
  })
  // Whoever reads on is told.
  opened.catch(() => {})

  async function readOn(): Promise<void> {
    try {
      await opened
      while (stale) {
        stale = false
        while ((await readPage()) === PAGE);
      }
    } finally {
      // In one step with the last look at `stale`: a call in between would wait for a run that looks no more.
      advancing = undefined
    }
  }

  /** @returns how many lines of the log it was */
  async function readPage(): Promise<number> {
    // What is announced while the log is read may go with an event that is not in this page.
    const announced = [...passing]
    const page = await readLog(db, id, seq, PAGE)
    const said = page.length < PAGE ? announced.map(([, event]) => event) : []
    for (const [subject, event] of said.length > 0 ? announced : []) {
      if (passing.get(subject) === event) passing.delete(subject)
    }
    const events = [...withIds(page), ...said.map((event) => ({ event }))]
    seq = page.at(-1)?.seq ?? seq
    if (events.length > 0) deliver(encode(events))
    return page.length
  }

  function withIds(page: NumberedEvent[]): Delivered[] {
    return page.flatMap(({ seq, event }) => (event ? [{ id: eventId(epoch, seq), event }] : []))
  }

  return {
    id,
    /** The last event delivered. */
    position: () => seq,
    epoch: () => epoch,

    /**
     * Reads the log to its end and delivers what is new. One run at a time; a call during a run makes it look again.
     * Rejects with `not_found` for a conversation that was gone from the start.
     */
    advance(): Promise<void> {
      stale = true
      advancing ??= readOn()
      return advancing
    },

    /** Has an event said with the next delivery, where it stands for earlier ones about the same; nothing is kept of it. */
    announce(event: PassingEvent): void {
      passing.set(subjectOf(event), event)
    },
    hasAnnouncements: () => passing.size > 0,

    /**
     * A page of what came after `from` up to `to`, for a reader that is behind; `undefined` when it is not kept.
     *
     * @param bytes no event is added once the page is that long
     */
    async page(from: number, to: number, bytes: number): Promise<(Delivery & { seq: number }) | undefined> {
      const page = (await readLog(db, id, from, PAGE)).filter((each) => each.seq <= to)
      if (page[0]?.seq !== from + 1) return undefined
      const known = page.filter((each) => each.event)
      const delivery = encode(withIds(known), bytes)
      const isWhole = delivery.events.length === known.length
      return { ...delivery, seq: isWhole ? page.at(-1)!.seq : known[delivery.events.length - 1]!.seq }
    },
  }
}

/** What an event is about: the next one about the same says all that this one did. */
function subjectOf({ type, payload }: PassingEvent): string {
  const { root_id, user_id } = payload as { root_id?: string; user_id?: string }
  return [type, root_id, user_id].join()
}

/** Events as one piece of bytes: all of them, or as many as it takes to reach `limit` bytes. */
export function encode(events: Delivered[], limit = Number.POSITIVE_INFINITY): Delivery {
  const frames: Buffer[] = []
  let length = 0
  for (const { id, event } of events) {
    if (length >= limit) break
    length += frames[frames.push(Buffer.from(toFrame(event, id))) - 1]!.length
  }
  return { events: events.slice(0, frames.length), bytes: Buffer.concat(frames, length) }
}

/** A delivery up to the removal of a participant, who gets nothing of what happens after it; `undefined` without one. */
export function untilRemoval({ events }: Delivery, userId: string): Delivery | undefined {
  const index = events.findIndex(
    ({ event }) =>
      event.type === 'membership.changed' && event.payload.action === 'removed' && event.payload.user_id === userId,
  )
  return index < 0 ? undefined : encode(events.slice(0, index + 1))
}
