import { causeText } from '../../core/errors.ts'
import { repeatIfCalled } from '../../core/scheduling/once.ts'
import { createSlots } from '../../core/scheduling/slots.ts'
import { SECOND } from '../../core/units.ts'
import type { Place } from '../../live/feed/feed-order.ts'
import { eventId, parseEventId } from '../../live/log/event-ids.ts'
import { createCalls, type SendingContext } from './calls.ts'
import { endWebhook } from './ending.ts'
import { type Ahead, createHeld, type Held, isPaused, type LogHistory, settledAhead, settledPlace } from './held.ts'
import type { WebhookList } from './list.ts'
import { createResults } from './results.ts'
import { addGap } from './rules-gaps.ts'
import { openWebhook } from './secrets.ts'
import { createSender } from './sender.ts'
import { listWebhooksByIds, type WebhookRow } from './store.ts'
import { countPending } from './store-deliveries.ts'
import { claimWebhooks, lapseWebhooks, releaseWebhooks, renewWebhooks } from './store-sending.ts'

/** How long a webhook without events keeps its lease: the next event needs none then. */
const LINGER = 5 * SECOND

/** How long a call may still take when the process ends. */
const DRAINING_MS = 5_000

/** The webhooks for which this process sends. */
export type Holding = ReturnType<typeof createHolding>

interface HoldingDeps {
  /** The name of this process in leases. */
  writer: string
  list: WebhookList
  /** The history of the database. */
  history: () => LogHistory
  isOver: () => boolean
}

/** Takes webhooks with news, sends for them, and gives them back when there is nothing to send. */
export function createHolding(ctx: SendingContext, { writer, list, history, isOver }: HoldingDeps) {
  const { db, log } = ctx
  const { feed } = ctx.streams.hub
  const held = new Map<string, Held>()
  /** Webhooks with news, and the place before the first. */
  const wanted = new Map<string, Place | undefined>()
  /** Webhooks with news for which another process sends. */
  const missed = new Set<string>()
  // Claims and releases of leases come one after another.
  const leases = createSlots({ max: 1 })
  const textOf = (place: Place) => eventId(history().epoch, feed.format(place))
  const results = createResults(ctx, { writer, placesOf, stored: wakeAgain, lost })
  const calls = createCalls(ctx, { writer, results, lost })
  const sender = createSender(ctx, { calls, isOver })

  function placesOf(each: Held) {
    const ahead = settledAhead(each).map(({ place, open }) => ({ position: textOf(place), open: [...open] }))
    return { position: textOf(settledPlace(each)), ahead: ahead.length > 0 ? JSON.stringify(ahead) : null }
  }

  /** What the processes before had settled beyond the position. */
  function parseAhead({ ahead }: WebhookRow): Ahead[] {
    const all = JSON.parse(ahead ?? '[]') as { position: string; open: number[] }[]
    return all.flatMap(({ position, open }) => {
      const { epoch, place } = parseEventId(position, feed.parse)
      return place !== undefined && epoch === history().epoch ? { place, open: new Set(open) } : []
    })
  }

  function wake(id: string, before?: Place): void {
    const own = held.get(id)
    if (!own) {
      if (missed.has(id)) return
      if (!wanted.has(id) || before === undefined) wanted.set(id, before)
      claimSoon().catch((error) => log.warn('Webhooks could not be claimed', { cause: causeText(error) }))
      return
    }
    // Rows before need not be read, unless some are being read.
    const isIdle = !own.is_behind && !sender.isRunning(own) && own.entries.length === 0
    if (before !== undefined && isIdle) own.skip_to ??= before
    own.is_behind = true
    sender.wake(own, history())
  }

  function wakeAgain(own: Held): void {
    const hasWork = own.has_due || own.is_behind || own.entries.length > 0 || own.webhook.gap !== null
    if (hasWork && own.flights === 0 && !sender.isRunning(own)) sender.wake(own, history())
  }

  const claimSoon = repeatIfCalled(async () => {
    // One commit often concerns several webhooks.
    await Promise.resolve()
    const news = new Map(wanted)
    wanted.clear()
    if (news.size === 0 || isOver()) return
    for (const id of news.keys()) missed.add(id)
    const ids = await leases.run('', () => ctx.write((tx) => claimWebhooks(tx, writer, news.keys())))
    if (ids.length === 0) return
    for (const id of ids) missed.delete(id)
    const rows = await listWebhooksByIds(db, ids)
    const parked = await countPending(db, ids)
    for (const row of rows) {
      const own = parked.filter(({ webhook_id }) => webhook_id === row.id)
      await hold(row, news.get(row.id), new Map(own.map(({ conversation_id, count }) => [conversation_id, count])))
    }
  })

  async function hold(webhook: WebhookRow, before: Place | undefined, parked: Map<string | null, number>) {
    const { id } = webhook
    // Woken while it was claimed.
    if (held.has(id)) return wake(id, before)
    const opened = await openWebhook(ctx, webhook, ctx.now())
    if (!opened) {
      await ctx.write((tx) => endWebhook(ctx, tx, webhook, 'secret_lost'))
      return list.forget(id)
    }
    const known = list.learn(webhook)
    const isNear = before !== undefined && known.is_settled && known.position === webhook.position
    const place = isNear && hasReached(before, webhook) ? before : await startOf(webhook)
    const ahead = parseAhead(webhook)
    const own = createHeld({ webhook, opened, known, place, ahead, parked, used_at: ctx.now() })
    known.is_settled = false
    held.set(id, own)
    sender.wake(own, history())
  }

  /** Whether a place has all up to the position of a webhook: that may be beyond what was looked at together. */
  function hasReached(before: Place, webhook: WebhookRow): boolean {
    const { place } = parseEventId(webhook.position, feed.parse)
    return place !== undefined && feed.isWithin(place, before)
  }

  /** Where a webhook goes on. What the log has no more, its receiver is told. */
  async function startOf(webhook: WebhookRow): Promise<Place> {
    const { epoch, place } = parseEventId(webhook.position, feed.parse)
    const isOurs = place !== undefined && epoch === history().epoch
    if (isOurs && !(await feed.isExpired(place))) return place
    const start = isOurs ? await feed.placeAt(0) : await feed.head()
    const cursor = textOf(start)
    // A position of another history says nothing in this one.
    const gap = isOurs
      ? ({ reason: 'age', from: webhook.position, to: cursor } as const)
      : { reason: 'history' as const }
    webhook.gap = addGap(webhook.gap, { cursor, ...gap })
    return start
  }

  /** This process sends for a webhook no more; whether any does, the list says. */
  function lost(own: Held): void {
    if (own.state === 'ended') return
    own.state = 'ended'
    own.changed.changed()
    const { id } = own.webhook
    if (held.get(id) === own) held.delete(id)
    missed.add(id)
  }

  /** Stores the results of some webhooks, and lets another process take them. */
  async function giveAway(isChosen: (own: Held) => boolean): Promise<void> {
    await results.flush().catch(() => {})
    const chosen = [...held.values()].filter(isChosen)
    for (const own of chosen) {
      own.state = 'ended'
      held.delete(own.webhook.id)
    }
    const ids = chosen.map(({ webhook }) => webhook.id)
    // After a failure the leases lapse by themselves.
    if (ids.length > 0) await ctx.write((tx) => lapseWebhooks(tx, writer, ids)).catch(() => {})
  }

  const isFree = (own: Held) => own.state === 'held' && !sender.isRunning(own) && !own.is_behind

  return {
    all: () => [...held.values()],
    isSending: () => held.size > 0,
    get: (id: string) => held.get(id),
    wake,
    lost,
    missed,
    /** Whether a webhook has news that are not sent yet, here or elsewhere. */
    hasNews: (id: string) => held.has(id) || wanted.has(id) || missed.has(id),
    /** An event of a webhook is due again, or its process has died. */
    isDue(id: string): void {
      missed.delete(id)
      const own = held.get(id)
      if (own) {
        own.has_due = true
        wakeAgain(own)
      } else wake(id)
    },
    /** Goes on where a pause has ended, or the storage was away. */
    retry(): void {
      for (const own of held.values()) if (!isPaused(own, ctx.now())) wakeAgain(own)
    },

    /** Prolongs the leases. */
    async renew(): Promise<void> {
      const before = [...held.values()]
      if (before.length === 0) return
      const ids = before.map(({ webhook }) => webhook.id)
      const kept = await ctx.write((tx) => renewWebhooks(tx, writer, ids))
      for (const own of before) if (!kept.has(own.webhook.id)) lost(own)
    },

    /** Ends the leases of webhooks that have nothing to send. */
    async release(): Promise<void> {
      const isQuiet = (own: Held) => own.flights === 0 && own.entries.length === 0 && own.webhook.gap === null
      const idle = [...held.values()].filter(
        (own) => isFree(own) && isQuiet(own) && own.used_at + LINGER < ctx.now() && !isPaused(own, ctx.now()),
      )
      if (idle.length === 0) return
      for (const own of idle) results.add({ held: own, conversation_id: null })
      await results.flush()
      await leases.run('', async () => {
        // It may have got news meanwhile, whose results would be lost.
        const free = idle.filter((own) => isFree(own) && isQuiet(own))
        for (const own of free) {
          own.state = 'ended'
          held.delete(own.webhook.id)
          const known = list.get(own.webhook.id)
          if (known) Object.assign(known, { position: textOf(own.place), is_settled: true })
        }
        const ids = free.map(({ webhook }) => webhook.id)
        await ctx.write((tx) => releaseWebhooks(tx, writer, ids))
      })
    },

    /** Gives the webhooks to other processes: at once those without a call, the others a while later at most. */
    async end(): Promise<void> {
      await giveAway((own) => own.flights === 0 && !sender.isRunning(own))
      const timeout = new Promise((resolve) => setTimeout(resolve, DRAINING_MS).unref())
      if (held.size > 0) await Promise.race([calls.idle(), timeout])
      await giveAway(() => true)
      results.close()
    },
  }
}
