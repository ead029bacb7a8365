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

/** How many events are read and sent at a time. */
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
  let passing: PassingEvent[] = []
  let stale = false
  let advancing: Promise<void> | undefined

  const opened = findHead(db, id).then((head) => {
    if (!head) throw new ChatError('not_found')
    ;({ epoch, last: seq } = head)
  })

  async function readOn(): Promise<void> {
    await opened
    while (stale) {
      stale = false
      let page: NumberedEvent[]
      do {
        page = await readLog(db, id, seq, PAGE)
        const events = [...withIds(page), ...passing.map((event) => ({ event }))]
        passing = []
        seq = page.at(-1)?.seq ?? seq
        if (events.length > 0) deliver(encode(events))
      } while (page.length === PAGE)
    }
  }

  function withIds(page: NumberedEvent[]): Delivered[] {
    return page.map((each) => ({ id: eventId(epoch, each.seq), event: each.event }))
  }

  return {
    id,
    /** Resolves once it is known where the log stands. Rejects with `not_found` for a conversation that is gone. */
    opened,
    /** The last event delivered. */
    position: () => seq,
    epoch: () => epoch,

    /** Reads the log to its end and delivers what is new. One run at a time; a call during a run makes it look again. */
    advance(): Promise<void> {
      stale = true
      advancing ??= readOn().finally(() => {
        advancing = undefined
      })
      return advancing
    },

    /** Has an event said with the next delivery; nothing is kept of it. */
    announce(event: PassingEvent): void {
      passing.push(event)
    },
    hasAnnouncements: () => passing.length > 0,

    /** A page of what came after `from`, for a reader that is behind; `undefined` at the end. */
    async page(from: number): Promise<(Delivery & { seq: number }) | undefined> {
      const page = await readLog(db, id, from, PAGE)
      return page.length > 0 ? { ...encode(withIds(page)), seq: page.at(-1)!.seq } : undefined
    },
  }
}

/** Events as one piece of bytes. */
export function encode(events: Delivered[]): Delivery {
  return { events, bytes: Buffer.from(events.map(({ id, event }) => toFrame(event, id)).join('')) }
}
