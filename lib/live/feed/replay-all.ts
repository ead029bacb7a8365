import type { EphemeralEvent } from '../../context.ts'
import type { CatchUpDeps } from '../conversation/replay.ts'
import { eventId, parseEventId, type ResetReason } from '../log/event-ids.ts'
import type { EventRow, NumberedEvent } from '../log/log.ts'
import { isForAnother } from '../log/private.ts'
import { type Delivered, encode } from '../readers/delivery.ts'
import type { JoinedConversation, Reader } from '../readers/reader.ts'
import { sendEvent, sendStart } from '../readers/sender.ts'
import type { DeliverAll } from './deliver-all.ts'
import type { Feed, Range } from './feed.ts'
import type { FeedRow, Place } from './feed-order.ts'
import type { Followers } from './followers.ts'
import type { Tail } from './tail.ts'

/** The number of rows of all conversations together that are read at once. */
const ROUND = 512

/**
 * The least number of these from each conversation, however many there are. With one of each, a round would end at the
 * first conversation that has two: there would be as many rounds as rows.
 */
const MIN_ROUND = 8

/** The number of events that are rendered at once. */
const PAGE = 64

/** The functions of the hub that are needed. */
export interface CatchUpFollowerDeps
  extends Pick<CatchUpDeps, 'page_bytes' | 'turn' | 'slots' | 'drained' | 'recheck' | 'write' | 'close'> {
  feed: Feed
  tail: Tail
  followers: Followers
  all: DeliverAll
  compose: (rows: EventRow[]) => Promise<NumberedEvent[]>
  listMemberships(userId: string): Promise<JoinedConversation[]>
  countNotifications(userId: string): Promise<number>
}

/** Sends the missed events of all conversations of a user, at the reader's own pace, then makes it a live reader. */
export async function catchUpFollower(
  reader: Reader,
  last_event_id: string | undefined,
  deps: CatchUpFollowerDeps,
): Promise<void> {
  const { tail, followers, all } = deps
  followers.add(reader)
  // Before the memberships are read: a change that is committed after this read must not be missed.
  await tail.begin()
  if (reader.closed) return
  const memberships = reader.is_system ? [] : await deps.listMemberships(reader.user_id)
  await deps.recheck(reader)
  if (reader.closed) return
  let to: Place = 0
  let epoch = ''
  await tail.join((place, history) => {
    to = place
    epoch = history
    if (!reader.closed) followers.follow(reader, memberships)
  })
  if (reader.closed) return
  const start = await startOf(deps.feed, last_event_id, epoch, to)
  if (reader.closed) return
  const counts = await listCounts(reader, deps)
  if (reader.closed) return
  sendStart(reader, { ...start, id: eventId(epoch, deps.feed.format(start.place)) }, counts)
  for (let from = start.place; ; ) {
    if (from !== to && !(await replay(reader, from, to, epoch, deps))) return
    if (reader.closed || all.goLive(reader)) return
    await tail.join((place) => {
      from = to
      to = place
      all.restart(reader)
    })
    // The events about the inbox were among those that were dropped.
    for (const count of await listCounts(reader, deps)) if (!reader.closed) sendEvent(reader, count)
  }
}

/** The number of unread notifications, for a user: from it on, each event about the inbox has the next one. */
async function listCounts(reader: Reader, { countNotifications }: CatchUpFollowerDeps): Promise<EphemeralEvent[]> {
  if (reader.closed || reader.is_system) return []
  return [{ type: 'notifications.count', payload: { unread: await countNotifications(reader.user_id) } }]
}

interface Start {
  resumed: boolean
  place: Place
  reason?: ResetReason
}

/** Where a stream starts: after the event that the client names, if that is possible. */
async function startOf(feed: Feed, id: string | undefined, epoch: string, end: Place): Promise<Start> {
  const refuse = (reason?: ResetReason): Start => ({ resumed: false, place: end, ...(reason && { reason }) })
  if (id === undefined) return refuse()
  const { epoch: history, place } = parseEventId(id, feed.parse)
  if (place === undefined) return refuse('malformed')
  if (history !== epoch) return refuse('unknown')
  if (feed.isAfter(place, end) && (await feed.isFuture(place))) return refuse('future')
  return (await feed.isExpired(place)) ? refuse('expired') : { resumed: true, place }
}

/** Sends the events between two places. @returns false if the reader was closed */
async function replay(
  reader: Reader,
  from: Place,
  to: Place,
  epoch: string,
  deps: CatchUpFollowerDeps,
): Promise<boolean> {
  for (const [begin, end] of deps.feed.steps(from, to)) {
    const rounds = (reader.is_system ? readAll : readRounds)(reader, begin, end, deps)
    for await (const rows of rounds) {
      const idOf = (row: FeedRow) => eventId(epoch, deps.feed.format(deps.feed.within(begin, end, row.id)))
      await sendRows(reader, rows, idOf, deps)
      if (reader.closed) return false
    }
  }
  // Retention may have deleted some of them before they were read: the client gets `stream.reset` after it reconnects.
  if (!reader.closed && (await deps.feed.isExpired(from))) deps.close(reader, 'too_slow')
  return !reader.closed
}

/**
 * The rows that concern a user between two places of a step, by id: from all conversations as many at once as make a
 * round, and of these the ones before the first row that may be missing.
 */
async function* readRounds(
  reader: Reader,
  begin: Place,
  end: Place,
  deps: CatchUpFollowerDeps,
): AsyncGenerator<FeedRow[]> {
  const { feed } = deps
  let ranges = await listMissed(reader, begin, end, deps)
  let place = begin
  for (let isWhole = false; !isWhole && !reader.closed; ) {
    if (!(await deps.slots.take(reader))) return
    const share = Math.max(MIN_ROUND, Math.floor(ROUND / ranges.length))
    const parts = ranges.map((range) => ({ ...range, to: Math.min(range.to, range.from + share - 1) }))
    const read = await deps.turn(reader, async () => ({
      rows: parts.length > 0 ? await feed.listRanges(parts) : [],
      own: await feed.listOwnChanges(reader.user_id, place, end, ROUND),
    }))
    if (!read) return
    const { rows, own } = read
    const horizon = Math.min(
      own.length < ROUND ? Number.POSITIVE_INFINITY : own.at(-1)!.id,
      ...unfinishedIn(ranges, parts, rows),
    )
    const byId = new Map([...rows, ...own].filter(({ id }) => id <= horizon).map((row) => [row.id, row]))
    const due = [...byId.values()].sort((a, b) => a.id - b.id)
    isWhole = horizon === Number.POSITIVE_INFINITY
    if (due.length > 0) {
      place = feed.within(begin, end, due.at(-1)!.id)
      yield due
    }
    deps.slots.leave(reader)
    ranges = rest(ranges, due)
  }
}

/** All rows between two places of a step, by id: for a system actor. */
async function* readAll(
  reader: Reader,
  begin: Place,
  end: Place,
  { feed, slots, turn }: CatchUpFollowerDeps,
): AsyncGenerator<FeedRow[]> {
  for (let after = 0; !reader.closed; ) {
    if (!(await slots.take(reader))) return
    const rows = await turn(reader, () =>
      feed.listBetween(reader.user_id, { from: begin, to: end, afterId: after, limit: ROUND }),
    )
    if (!rows) return
    if (rows.length > 0) yield rows
    slots.leave(reader)
    if (rows.length < ROUND) return
    after = rows.at(-1)!.id
  }
}

/** The ranges of missed events, looked up for some conversations at a time. */
async function listMissed(reader: Reader, begin: Place, end: Place, deps: CatchUpFollowerDeps): Promise<Range[]> {
  const ids = [...reader.following!.joined!.keys()]
  const ranges: Range[] = []
  for (let first = 0; first < ids.length && !reader.closed; first += ROUND) {
    const some = ids.slice(first, first + ROUND)
    ranges.push(...((await deps.turn(reader, () => deps.feed.listMissed(some, begin, end))) ?? []))
  }
  return ranges
}

/** The id of the last row of each range that has more than its part. A conversation deleted since has none. */
function unfinishedIn(ranges: Range[], parts: Range[], rows: FeedRow[]): number[] {
  const last = new Map(rows.map((row) => [row.conversation_id, row.id]))
  return ranges.flatMap(({ id, to }, index) => (parts[index]!.to < to ? (last.get(id) ?? []) : []))
}

/** What is left of the ranges after these rows. */
function rest(ranges: Range[], sent: FeedRow[]): Range[] {
  // Private events have no number in a range.
  const last = new Map(sent.filter(({ seq }) => seq > 0).map((row) => [row.conversation_id, row.seq]))
  return ranges
    .map((range) => ({ ...range, from: Math.max(range.from, (last.get(range.id) ?? 0) + 1) }))
    .filter(({ from, to }) => from <= to)
}

/** Renders and sends rows, page by page. */
async function sendRows(
  reader: Reader,
  rows: FeedRow[],
  idOf: (row: FeedRow) => string,
  deps: CatchUpFollowerDeps,
): Promise<void> {
  for (let left = rows; left.length > 0 && !reader.closed; ) {
    // It has one, unless its client took long to read the last page.
    if (!(await deps.slots.take(reader))) return
    const some = left.slice(0, PAGE)
    const lines = await deps.turn(reader, () => deps.compose(some))
    if (!lines || reader.closed) return
    const events = lines.flatMap(({ event, ...line }, index): Delivered[] =>
      event && isFor(reader, left[index]!) ? [{ ...line, id: idOf(left[index]!), event }] : [],
    )
    const page = encode(events, deps.page_bytes)
    const isCut = page.events.length < events.length
    const last = page.events.at(-1)?.id
    const count = isCut ? left.findIndex((row) => idOf(row) === last) + 1 : lines.length
    if (page.events.length > 0) deps.write(reader, page)
    left = left.slice(count)
    await deps.drained(reader)
  }
}

/**
 * Whether a row is one since the user joined its conversation, a change of the user's own membership, or a private event in a
 * conversation in which the user participates.
 */
function isFor(reader: Reader, row: EventRow): boolean {
  const { type, user_id, conversation_id, created_at, for_user_id } = row
  if (isForAnother(row, reader.user_id)) return false
  if (reader.is_system) return true
  if (type === 'membership.changed' && user_id === reader.user_id) return true
  const joined = reader.following!.joined!.get(conversation_id)
  if (for_user_id !== null) return joined !== undefined
  return joined !== undefined && created_at >= joined
}
