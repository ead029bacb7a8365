import { photosOf } from '../../accounts/users/photos.ts'
import type { Context } from '../../context.ts'
import type { Place } from '../../live/feed/feed-order.ts'
import { eventId, type Head, parseEventId, startFrom } from '../../live/log/event-ids.ts'
import type { EventRow } from '../../live/log/log.ts'
import { listEvents, listHeads } from '../../live/log/log.ts'
import { listHistories } from '../../storage/histories.ts'
import { compose } from '../events/render.ts'
import { scan, type Wanted } from '../feed/scan.ts'
import type { Message } from '../messages/schema.ts'

/** A new or edited message, with the position behind its event. */
export interface PlacedMessage {
  message: Message
  after: string
}

/** Messages after a position, and the position after all that was read. */
export interface ReadOn {
  messages: PlacedMessage[]
  after: string
  /** Whether there may be more. */
  more: boolean
}

/** A log that a call reads on from a position. */
export interface ReadableLog {
  /** The position behind its last event. */
  head(): Promise<string>
  /** Whether all events after a position are still there. */
  isUsable(position: string): Promise<boolean>
  read(position: string): Promise<ReadOn>
}

/** Which events are of messages that a call waits for. */
export type IsAwaited = (row: Pick<EventRow, 'type' | 'conversation_id'>) => boolean

/** How many events of a conversation are read at a time, and in one call: a caller that is far behind calls again. */
const PAGE = 64
const MAX_ROWS = 32 * PAGE

/** The log of one conversation, whose positions are those of its stream. */
export function logOfConversation(ctx: Context, id: string, isWanted: (message: Message) => boolean): ReadableLog {
  const { db, config, now } = ctx
  const headOf = async (): Promise<Head> => (await listHeads(db, [id])).get(id) ?? { epoch: '', first: 0, last: 0 }

  return {
    async head() {
      const { epoch, last } = await headOf()
      return eventId(epoch, last)
    },
    async isUsable(position) {
      return startFrom(position, await headOf()).resumed
    },
    async read(position) {
      const { epoch, place } = parseEventId(position, Number)
      const messages: PlacedMessage[] = []
      let seq = place!
      for (let rows = 0; rows < MAX_ROWS && messages.length === 0; rows += PAGE) {
        const page = await listEvents(db, id, seq, PAGE)
        const lines = await compose(db, page, { photos: photosOf(config), now: now() })
        for (const line of lines) {
          seq = line.seq
          const message = messageIn(line.event)
          if (message && isWanted(message)) messages.push({ message, after: eventId(epoch!, seq) })
        }
        // Fewer are composed where they are long.
        if (page.length < PAGE && lines.length === page.length)
          return { messages, after: eventId(epoch!, seq), more: false }
      }
      return { messages, after: eventId(epoch!, seq), more: true }
    },
  }
}

function messageIn(event: { type: string; payload: object } | undefined): Message | undefined {
  if (event?.type !== 'message.new' && event?.type !== 'message.edited') return undefined
  return (event.payload as { message: Message }).message
}

/** The log of all conversations of a user, whose positions are those of the feed, and of the stream of all. */
export function logOfAll(
  ctx: Context,
  wanted: Pick<Wanted, 'user_id' | 'is_system' | 'limit'>,
  isAwaited: IsAwaited,
  isWanted: (message: Message) => boolean,
): ReadableLog {
  const { feed } = ctx.streams.hub
  const positionOf = async (place: Place) => eventId(await feed.epoch(), feed.format(place))

  return {
    head: async () => positionOf(await feed.head()),
    async isUsable(position) {
      const { epoch, place } = parseEventId(position, feed.parse)
      if (place === undefined || epoch !== (await feed.epoch())) return false
      return !(await feed.isExpired(place)) && !(await feed.isFuture(place))
    },
    async read(position) {
      const { epoch, place } = parseEventId(position, feed.parse)
      const composing = { histories: await listHistories(ctx.db), hasSubjects: false }
      const choose: Wanted['choose'] = async (events) =>
        new Map(
          events.filter(({ data }) => isWanted((data as { message: Message }).message)).map((event) => [event, event]),
        )
      const page = await scan(ctx, place!, { ...wanted, wants: isAwaited, choose, epoch: epoch! }, composing)
      return {
        messages: page.events.map(({ data, position: after }) => ({
          message: (data as { message: Message }).message,
          after,
        })),
        after: await positionOf(page.place),
        more: page.has_more,
      }
    },
  }
}
