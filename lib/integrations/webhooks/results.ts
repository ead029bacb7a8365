import type { Context } from '../../context.ts'
import { causeText } from '../../core/errors.ts'
import { createTimer } from '../../core/scheduling/timer.ts'
import { monotonicMicros } from '../../core/time.ts'
import { SECOND } from '../../core/units.ts'
import type { Tx } from '../../live/transaction/transaction.ts'
import { type EndReason, endWebhook } from './ending.ts'
import { type Entry, endBusy, endEntry, type Held, wasMissed, withoutSettled } from './held.ts'
import { earlyAt } from './rules-schedule.ts'
import {
  type DeliveryRow,
  deleteDelivery,
  listFailed,
  setDue,
  setNextDue,
  storeDelivery,
  trimDeliveries,
} from './store-deliveries.ts'
import { type SendingState, updateSending } from './store-sending.ts'

/** How long results are gathered, so that many share a transaction; they are stored within 250 ms. */
const GATHER_MS = 50

/** So many are stored at once: what a death repeats is not more where calls are fast. */
const MANY = 4

/** How long results wait for a database that is away. Later, what they are of is sent again. */
const MAX_WAIT = 10 * SECOND

/** How often a storage that fails is tried again. */
const RETRY_MS = 500

/** After how many results a webhook is looked at for deliveries that are too many, and at the first one of a process. */
const TRIMMED = 100

/** What became of an event, or of a webhook. */
export interface Result {
  held: Held
  /** The event, if it came from the log. */
  entry?: Entry
  conversation_id: string | null
  /** Missing for what is not for the webhook. */
  delivery?: DeliveryRow
  /** The id of what waited and is for the webhook no more. */
  dropped?: string
  /** Whether the receiver has come back. */
  is_back?: boolean
  ended?: EndReason
}

/** Stores what became of events, with the positions of their webhooks. */
export type Results = ReturnType<typeof createResults>

/**
 * @param placesOf the position of a webhook, and what is settled beyond it
 * @param stored is called with webhooks whose results are stored
 * @param lost is called with webhooks that another process has taken, or that their owners have changed
 */
export function createResults(
  ctx: Pick<Context, 'id' | 'write' | 'now' | 'log' | 'mail'>,
  {
    writer,
    placesOf,
    stored,
    lost,
  }: {
    writer: string
    placesOf: (held: Held) => Pick<SendingState, 'position' | 'ahead'>
  } & Record<'stored' | 'lost', (held: Held) => void>,
) {
  const waiting: Result[] = []
  const state: { failing_since: number | undefined; running: Promise<void> | undefined } = {
    failing_since: undefined,
    running: undefined,
  }
  const timer = createTimer(() => void flush())

  async function storeAll(results: Result[]): Promise<Set<Held>> {
    return await ctx.write(async (tx) => {
      const missing = new Set<Held>()
      for (const [held, own] of byWebhook(results)) if (!(await storeOf(tx, held, own))) missing.add(held)
      return missing
    })
  }

  async function storeOf(tx: Tx, held: Held, results: Result[]): Promise<boolean> {
    const { id } = held.webhook
    const settled = new Set(results.flatMap(({ entry }) => entry ?? []))
    const columns = { ...held.webhook, ...placesOf(withoutSettled(held, settled)) }
    if (!(await updateSending(tx, writer, id, columns))) return false
    for (const { delivery, dropped, conversation_id } of results) {
      if (delivery) await storeDelivery(tx, delivery)
      if (dropped !== undefined) await deleteDelivery(tx, dropped)
      const isOver = dropped !== undefined || (delivery && delivery.status !== 'pending')
      if (isOver && held.webhook.event_order === 'conversation' && conversation_id !== null)
        await setNextDue(tx, id, conversation_id, ctx.now())
    }
    held.known.untrimmed += results.length
    if (held.known.untrimmed >= TRIMMED) {
      held.known.untrimmed = 0
      await trimDeliveries(tx, id)
    }
    if (results.some(({ is_back }) => is_back)) {
      const missed = (await listFailed(tx, id)).filter(wasMissed)
      for (const [n, delivery] of missed.entries()) {
        const at = earlyAt(ctx.now(), n)
        if (at < delivery.next_at!) await setDue(tx, delivery.id, at)
      }
    }
    const reason = results.find(({ ended }) => ended)?.ended
    if (reason) await endWebhook(ctx, tx, held.webhook, reason)
    return true
  }

  function settle(results: Result[], missing: ReadonlySet<Held>): void {
    for (const result of results) {
      const { held, entry, conversation_id, delivery, dropped, ended } = result
      if (entry) endEntry(held, entry)
      endBusy(held, conversation_id, dropped ?? delivery?.id)
      if (held.webhook.event_order === 'conversation' || result.is_back) held.has_due = true
      if (ended || missing.has(held)) lost(held)
      held.changed.changed()
      if (held.state === 'held') stored(held)
    }
  }

  async function storeWaiting(): Promise<void> {
    // A webhook that was lost is sent to by the process that has it now.
    const results = waiting.splice(0).filter(({ held }) => held.state === 'held')
    if (results.length === 0) return
    try {
      settle(results, await storeAll(results))
      state.failing_since = undefined
    } catch (error) {
      state.failing_since ??= monotonicMicros()
      const isOver = monotonicMicros() - state.failing_since > MAX_WAIT
      ctx.log.warn('Results of webhooks could not be stored', { cause: causeText(error) })
      if (isOver) for (const { held } of results) lost(held)
      else waiting.unshift(...results)
    }
    if (waiting.length === 0) return
    if (state.failing_since !== undefined) timer.set(RETRY_MS)
    else timer.set(waiting.length < MANY ? GATHER_MS : 0)
  }

  function flush(): Promise<void> {
    timer.cancel()
    state.running = (state.running ?? Promise.resolve()).then(storeWaiting)
    return state.running
  }

  return {
    add(result: Result): void {
      waiting.push(result)
      if (waiting.length === MANY && state.failing_since === undefined) void flush()
      else timer.set(GATHER_MS)
    },
    /** Stores what has come until now. */
    flush,
    close: () => timer.cancel(),
  }
}

function byWebhook(results: readonly Result[]): Map<Held, Result[]> {
  const all = new Map<Held, Result[]>()
  for (const result of results) {
    const own = all.get(result.held)
    if (own) own.push(result)
    else all.set(result.held, [result])
  }
  return all
}
