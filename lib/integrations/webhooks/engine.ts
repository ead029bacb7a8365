import { causeText } from '../../core/errors.ts'
import { newId } from '../../core/ids.ts'
import { repeatIfCalled } from '../../core/scheduling/once.ts'
import { SECOND } from '../../core/units.ts'
import { eventId, parseEventId } from '../../live/log/event-ids.ts'
import type { Commit } from '../../live/transaction/commits.ts'
import type { WebhookLevels } from '../../metrics/webhooks.ts'
import { listHistories } from '../../storage/histories.ts'
import type { SendingContext } from './calls.ts'
import type { LogHistory } from './held.ts'
import { createHolding } from './holding.ts'
import { createWebhookList } from './list.ts'
import { createRouting } from './routing.ts'
import { sumPending } from './store-deliveries.ts'
import { listActive, listFree, listWaitingWebhooks, movePositions, type RoutedRow } from './store-sending.ts'

/** The interval of {@link WebhookEngine.tick}. */
export const TICK_MS = 1_000

/** In ticks: how often leases are prolonged, the list is read again, and the positions of idle webhooks are stored. */
const RENEWED = 3
const RELOADED = 5
const MOVED = 60

/** Sends events to webhooks. */
export type WebhookEngine = ReturnType<typeof createWebhookEngine>

/** Creates what sends events to webhooks; nothing runs before the first tick, and without webhooks almost nothing. */
export function createWebhookEngine(ctx: SendingContext) {
  const { config, db, log } = ctx
  const { feed } = ctx.streams.hub
  const writer = newId()
  const state = {
    history: undefined as LogHistory | undefined,
    ticks: 0,
    phase: 'on' as 'on' | 'draining' | 'closed',
    ending: undefined as Promise<void> | undefined,
  }
  const history = () => state.history!
  const isOver = () => state.phase !== 'on'
  const routing = createRouting(
    ctx,
    (id, before) => holding.wake(id, before),
    () => holding.isSending(),
  )
  const list = createWebhookList(routing)
  const holding = createHolding(ctx, { writer, list, history, isOver })

  const reload = repeatIfCalled(async () => {
    const held = holding.all()
    const rows = await listActive(db)
    const writers = new Map(rows.map((row) => [row.id, row.writer]))
    for (const each of held) if (writers.get(each.webhook.id) !== writer) holding.lost(each)
    if (rows.length > 0) state.history ??= { epoch: await feed.epoch(), histories: await listHistories(db) }
    for (const id of list.ids()) if (!writers.has(id)) forget(id)
    for (const row of rows) if (!holding.get(row.id)) consider(row)
    if (routing.place() === undefined && rows.length > 0) await begin(rows)
    if (routing.place() !== undefined && rows.length === 0) await routing.stop()
    for (const { id, is_lapsed } of rows) if (is_lapsed === 1 && !holding.get(id)) holding.isDue(id)
  })

  function forget(id: string): void {
    list.forget(id)
    holding.missed.delete(id)
  }

  /** Begins to look at the log from where most webhooks are. */
  async function begin(rows: RoutedRow[]): Promise<void> {
    const counts = new Map<string, number>()
    for (const { position } of rows) counts.set(position, (counts.get(position) ?? 0) + 1)
    const [common] = [...counts].reduce((most, each) => (each[1] > most[1] ? each : most))
    const { epoch, place } = parseEventId(common, feed.parse)
    const isKnown = place !== undefined && epoch === history().epoch && !(await feed.isExpired(place))
    await routing.start(isKnown ? place : await feed.head())
    for (const row of rows) {
      const known = list.get(row.id)
      if (isKnown && row.position === common && row.writer === null && known) known.is_settled = true
      else holding.wake(row.id)
    }
  }

  /** Notes what the list says of a webhook for which this process does not send. */
  function consider(row: RoutedRow): void {
    const before = list.get(row.id)
    const isSame = before?.position === row.position && before.is_settled
    const known = list.learn(row)
    if (isSame) return
    known.position = row.position
    const routed = routing.place()
    if (routed === undefined || row.writer !== null) return
    const { place } = parseEventId(row.position, feed.parse)
    holding.missed.delete(row.id)
    // What comes after a place that was not reached yet is looked at in its turn.
    known.is_settled =
      row.position === eventId(history().epoch, feed.format(routed)) ||
      (place !== undefined && feed.isAfter(place, routed))
    if (!known.is_settled) holding.wake(row.id)
  }

  /** Stores that nothing waits for idle webhooks: the log need not be kept for them. */
  async function move(): Promise<void> {
    await routing.catchUp()
    const place = routing.place()
    if (place === undefined || !routing.isIdle()) return
    const to = eventId(history().epoch, feed.format(place))
    for (const [from, all] of list.settledByPosition((id) => !holding.hasNews(id))) {
      if (from === to) continue
      const ids = all.map(({ route }) => route.id)
      await ctx.write((tx) => movePositions(tx, ids, { from, to }))
      for (const known of all) known.position = to
    }
  }

  async function look(): Promise<void> {
    for (const id of await listWaitingWebhooks(db, writer, ctx.now())) holding.isDue(id)
    const { missed } = holding
    for (const id of missed.size > 0 ? await listFree(db, missed) : []) {
      missed.delete(id)
      holding.wake(id)
    }
  }

  return {
    /** Reads the list of webhooks again when an act has changed it. */
    committed({ audited }: Commit): void {
      if (isOver() || !config.webhooks.enabled) return
      const acts = audited.filter(({ entry }) => entry.act.startsWith('webhook.'))
      if (acts.length === 0) return
      // At once: no call begins after the act was answered.
      for (const { entry } of acts) {
        const held = holding.get(entry.subject_id ?? '')
        if (held) holding.lost(held)
      }
      reload().catch((error) => log.warn('Webhooks could not be listed', { cause: causeText(error) }))
    },

    /** Is called each second. */
    async tick(): Promise<void> {
      if (isOver() || !config.webhooks.enabled) return
      const n = state.ticks++
      const isReload = n % RELOADED === 0
      const isMove = n % MOVED === MOVED - 1
      if (isReload) await reload()
      if (list.size() === 0) return
      routing.retry()
      if (n % RENEWED === 0) await holding.renew()
      holding.retry()
      if (isMove) await move()
      // One statement in each tick, however many webhooks are idle: the list says, too, whose process has died.
      if (!isReload) await look()
      await holding.release()
    },

    /** What waits: of all webhooks what is sent again, and of those for which this process sends also what it has read. */
    async levels(): Promise<WebhookLevels> {
      if (!config.webhooks.enabled) return { parked: 0, lag_seconds: 0 }
      const { parked, oldest_at } = await sumPending(db)
      const read = holding.all().flatMap(({ entries }) => entries[0]?.row.created_at ?? [])
      const oldest = Math.min(ctx.now(), oldest_at ?? Infinity, ...read)
      return { parked, lag_seconds: (ctx.now() - oldest) / SECOND }
    },

    /** Begins no call any more, and gives the webhooks to other processes, those with a call when it has ended. */
    drain(): void {
      if (state.phase !== 'on') return
      state.phase = 'draining'
      for (const held of holding.all()) held.changed.changed()
      state.ending = holding.end()
    },

    /** Resolves when the calls have ended. Called after `drain`. */
    async close(): Promise<void> {
      if (state.phase === 'closed') return
      state.phase = 'closed'
      await routing.stop()
      await (state.ending ?? holding.end())
    },
  }
}
