import { setImmediate as turn } from 'node:timers/promises'
import { causeText } from '../../core/errors.ts'
import { repeatIfCalled, type SingleFlight, warnOnce } from '../../core/scheduling/once.ts'
import { createSlots } from '../../core/scheduling/slots.ts'
import type { FeedRow, Place } from '../../live/feed/feed-order.ts'
import { eventId } from '../../live/log/event-ids.ts'
import { toEventName } from '../../storage/histories.ts'
import type { Calls, SendingContext } from './calls.ts'
import { listVisibleRows } from './composing.ts'
import { countParked, freeFlights, type Held, isPaused, type LogHistory, takeTurns, toKeep, toRead } from './held.ts'
import { isWanted } from './routing.ts'
import { listDueDeliveries } from './store-deliveries.ts'
import { listParked } from './store-sending.ts'

/** The number of events that are due again and looked up at once. */
const DUE_PAGE = 64

/** How many events of a webhook are composed together. */
const COMPOSED_TOGETHER = 16

/** How many webhooks read the log at the same time: more would only wait for connections. */
const READS_CONCURRENCY = 8

/** How a webhook is sent what concerns it. */
export type Sender = ReturnType<typeof createSender>

/** @param isOver whether no call begins any more */
export function createSender(ctx: SendingContext, { calls, isOver }: { calls: Calls; isOver: () => boolean }) {
  const { feed } = ctx.streams.hub
  const reads = createSlots({ max: READS_CONCURRENCY })
  const runs = new WeakMap<Held, SingleFlight<void>>()
  const warn = warnOnce((error: unknown) =>
    ctx.log.warn('Events could not be sent to a webhook, and are sent a moment later', { cause: causeText(error) }),
  )

  /** Reads on in the log, and keeps what may concern the webhook. */
  async function read(held: Held, history: LogHistory): Promise<void> {
    const limit = toRead(held)
    // It may have filled up while it waited for its turn.
    if (limit === 0) return
    held.is_behind = false
    const from = held.skip_to ?? held.place
    held.skip_to = undefined
    try {
      await readFrom(held, { from, limit }, history)
    } catch (error) {
      // Else the next news would be read from their own place on, and what comes before them never.
      held.is_behind = true
      held.skip_to = from
      throw error
    }
  }

  async function readFrom(
    held: Held,
    { from, limit }: { from: Place; limit: number },
    { epoch, histories }: LogHistory,
  ): Promise<void> {
    const { route } = held.known
    const news = await feed.news(from, limit)
    const placed = news.rows.map(([row, place], n) => ({ row, place, before: n === 0 ? from : news.rows[n - 1]![1] }))
    const { read_before, ahead } = held
    const isSettled = (row: FeedRow) =>
      (read_before !== undefined && feed.includes(read_before, row)) ||
      ahead.some(({ place, open }) => feed.includes(place, row) && !open.has(row.id))
    const wanted = placed.filter(({ row }) => isWanted(row, route) && !isSettled(row))
    const visible = await listVisibleRows(ctx, route.user_id, wanted)
    // What waits already has a row of its own: read again, it would begin anew, or wait for itself.
    const nameOf = (row: FeedRow) => toEventName(histories, row.id)
    const parked =
      countParked(held) > 0
        ? await listParked(ctx.db, route.id, new Set(visible.map(({ row }) => nameOf(row))))
        : new Set<string>()
    const fresh = parked.size > 0 ? visible.filter(({ row }) => !parked.has(nameOf(row))) : visible
    const kept = fresh.slice(0, toKeep(held))
    for (const { row, place, before } of kept) {
      const is_passed = ahead.some((each) => feed.includes(each.place, row))
      held.entries.push({ row, before, position: eventId(epoch, feed.format(place)), phase: 'read', is_passed })
    }
    if (kept.length < fresh.length) {
      held.place = kept.at(-1)!.place
      held.is_behind = true
      return
    }
    held.place = news.place
    if (news.isLast) {
      held.read_before = news.place
      // Not before: two processes may read the rows of overlapping transactions in another order.
      held.ahead = []
    } else held.is_behind = true
  }

  async function loadDue(held: Held): Promise<void> {
    held.has_due = false
    const { id } = held.webhook
    const due = await listDueDeliveries(ctx.db, id, { now: ctx.now(), limit: DUE_PAGE })
    held.due = due.filter((delivery) => !held.busy.has(delivery.id))
    if (due.length === DUE_PAGE && held.due.length > 0) held.has_due = true
  }

  /** Sends what there is; resolves when the webhook has to wait for something that wakes it. */
  async function run(held: Held, history: LogHistory): Promise<void> {
    const isMine = () => held.state === 'held' && !isOver()
    while (isMine() && !isPaused(held, ctx.now())) {
      held.used_at = ctx.now()
      if (held.webhook.gap !== null && held.flights === 0) {
        if ((held.gap_state.next_at ?? 0) > ctx.now()) return
        await calls.sendGap(held)
        continue
      }
      if (toRead(held) > 0) await reads.run(held.webhook.id, () => read(held, history))
      if (held.has_due && held.due.length === 0) await loadDue(held)
      const free = held.webhook.gap === null ? Math.min(freeFlights(held), COMPOSED_TOGETHER) : 0
      const turns = takeTurns(held, free, (entry) =>
        calls.park(held, entry, toEventName(history.histories, entry.row.id)),
      )
      if (turns.length > 0) await calls.begin(held, turns)
      else if (held.flights > 0) {
        await held.changed.wait()
        // Calls that end together make room for events that are composed together.
        await turn()
      } else if (toRead(held) === 0 && !(held.has_due && held.due.length === 0)) return
    }
  }

  return {
    /** Has a webhook sent what there is. */
    wake(held: Held, history: LogHistory): void {
      const wake = runs.get(held) ?? repeatIfCalled(() => run(held, history))
      runs.set(held, wake)
      wake().then(warn.reset, warn)
      held.changed.changed()
    },
    isRunning: (held: Held) => runs.get(held)?.current() !== undefined,
  }
}
