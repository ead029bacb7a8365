import type { PlacedRow } from '../../chat/feed/composing.ts'
import { listVisibility } from '../../chat/memberships/store-conversations.ts'
import type { Context } from '../../context.ts'
import { fingerprint } from '../../core/ids.ts'
import { parseRetryAfter } from '../../core/retry-after.ts'
import type { Release } from '../../core/scheduling/slots.ts'
import { toInstant } from '../../core/time.ts'
import { findServiceId } from '../../storage/secret.ts'
import { createCallSlots } from './call-slots.ts'
import { type ComposedEvent, composeFor } from './composing.ts'
import { addParked, type Entry, endBusy, type Held, noteAttempt, type Turn } from './held.ts'
import type { Result, Results } from './results.ts'
import { addGap, parseGaps, withoutFirstGap } from './rules-gaps.ts'
import { afterAttempt, hasFailedTooLong, paceAfter, type StoredAttempt, UNSENT } from './rules-schedule.ts'
import { signingSecrets } from './secrets.ts'
import { type Attempted, send } from './sending.ts'
import { type DeliveryRow, toState } from './store-deliveries.ts'
import { isHeld } from './store-sending.ts'

/** How long a receiver may take. */
const TIMEOUT_MS = 15_000

/** The status by which a receiver wants no events any more. */
const GONE = 410

/** The state of a service without what sends itself. */
export type SendingContext = Omit<Context, 'webhooks'>

interface CallsDeps {
  writer: string
  results: Pick<Results, 'add'>
  /** Is called with webhooks for which this process sends no more. */
  lost: (held: Held) => void
}

/** Makes the calls of webhooks. */
export type Calls = ReturnType<typeof createCalls>

export function createCalls(ctx: SendingContext, { writer, results, lost }: CallsDeps) {
  const slots = createCallSlots(() => ctx.config.webhooks.max_in_flight)
  const flying = new Set<Promise<void>>()
  const service: { id?: string } = {}

  /** Calls, and notes on the webhook what that has shown. @returns `undefined` if it is another process's by now */
  async function attempt(held: Held, call: { id: string; body: string; position: string }) {
    const { webhook, opened } = held
    const at = ctx.now()
    // It never changes.
    service.id ??= await findServiceId(ctx.db)
    if (held.state !== 'held') return undefined
    const secrets = signingSecrets(opened, webhook, at)
    const receiver = { id: webhook.id, url: webhook.url, headers: opened.headers, secrets }
    const sent = await send(ctx, receiver, { ...call, origin: service.id, timeout_ms: TIMEOUT_MS })
    ctx.metrics.webhookCalled(sent.error ?? 'ok')
    if (sent.error === undefined && webhook.bot_id !== null) ctx.streams.presence.noteReading(webhook.bot_id)
    if (held.state !== 'held') return undefined
    const stored = toStored(at, sent)
    const is_back = noteAttempt(held, stored, parseRetryAfter(sent.retry_after, ctx.now()))
    held.pace = paceAfter(held.pace, stored, webhook.parallel)
    return { stored, is_back, ended: endOf(held, stored, ctx.now()) }
  }

  async function isMine(held: Held): Promise<boolean> {
    return held.state === 'held' && (await isHeld(ctx.db, writer, held.webhook.id, ctx.now()))
  }

  async function deliver(held: Held, turn: Turn, placed: PlacedRow, event: ComposedEvent): Promise<void> {
    const outcome = await attempt(held, { ...event, position: placed.position })
    if (!outcome) return
    const before = turn.delivery ? toState(turn.delivery) : UNSENT
    const after = afterAttempt(before, outcome.stored, Math.random())
    const delivery: DeliveryRow = {
      ...(turn.delivery ?? toDelivery(held, turn.entry, { id: ctx.id(), event_id: event.id })),
      ...after,
      attempts: JSON.stringify(after.attempts),
    }
    const { conversation_id } = delivery
    if (turn.entry && after.status === 'pending') addParked(held, conversation_id, 1)
    if (turn.delivery && after.status !== 'pending') addParked(held, conversation_id, -1)
    if (after.status === 'dead') noteGap(held, delivery, 'dead')
    results.add({ ...resultOf(held, turn), delivery, is_back: outcome.is_back, ...outcome.ended })
  }

  /** What is sent of these turns. What is not for the webhook any more is settled, or forgotten. */
  async function compose(held: Held, turns: Turn[]): Promise<Map<Turn, { placed: PlacedRow; event: ComposedEvent }>> {
    const numbers = turns.flatMap(({ delivery }) => delivery?.event_number ?? [])
    const rows = new Map(
      (numbers.length > 0 ? await ctx.streams.hub.feed.listNumbered(numbers) : []).map((row) => [row.id, row]),
    )
    const placed = new Map<Turn, PlacedRow>()
    for (const turn of turns) {
      const row = turn.entry?.row ?? rows.get(turn.delivery!.event_number)
      if (row) placed.set(turn, { row, position: (turn.entry ?? turn.delivery!).position })
    }
    const events = await composeFor(ctx, held.webhook, [...placed.values()])
    const lost = turns.flatMap(({ delivery }) => (delivery && !rows.has(delivery.event_number) ? delivery : []))
    const missed = await listMissed(lost)
    const composed = new Map<Turn, { placed: PlacedRow; event: ComposedEvent }>()
    for (const turn of turns) {
      const place = placed.get(turn)
      const event = place && events.get(place)
      if (place && event) composed.set(turn, { placed: place, event })
      else if (turn.delivery && missed.has(turn.delivery)) giveUp(held, turn.delivery)
      else forget(held, turn)
    }
    return composed
  }

  /** Which of these events, which the log has no more, are only too old: others were deleted with their conversations. */
  async function listMissed(lost: DeliveryRow[]): Promise<Set<DeliveryRow>> {
    if (lost.length === 0) return new Set()
    const ids = new Set(lost.flatMap(({ conversation_id }) => conversation_id ?? []))
    const left = new Set((await listVisibility(ctx.db, ids)).map(({ id }) => id))
    return new Set(lost.filter(({ conversation_id }) => conversation_id === null || left.has(conversation_id)))
  }

  /** An event is too old to be sent again. */
  function giveUp(held: Held, before: DeliveryRow): void {
    const delivery: DeliveryRow = { ...before, status: 'dead', next_at: null }
    addParked(held, delivery.conversation_id, -1)
    noteGap(held, delivery, 'age')
    results.add({ ...resultOf(held, { delivery }), delivery })
  }

  function forget(held: Held, turn: Turn): void {
    if (turn.delivery) addParked(held, turn.delivery.conversation_id, -1)
    results.add({ ...resultOf(held, turn), ...(turn.delivery && { dropped: turn.delivery.id }) })
  }

  function fly(held: Held, work: Promise<void>, release: Release): void {
    const flight = work
      .catch(() => lost(held))
      .finally(() => {
        release()
        held.flights--
        flying.delete(flight)
        held.changed.changed()
      })
    flying.add(flight)
  }

  return {
    /** Sends these events; resolves when they are on their way. @throws what the storage throws; nothing is sent then */
    async begin(held: Held, turns: Turn[]): Promise<void> {
      const releases = await slots.acquire(held, turns.length)
      for (const turn of turns.splice(releases.length)) putBack(held, turn)
      held.flights += turns.length
      let begun: Turn[] = []
      try {
        const composed = await compose(held, turns)
        // Asked last: no call begins after another process has deleted or disabled it.
        if (!(await isMine(held))) return lost(held)
        begun = [...composed.keys()]
        for (const [turn, { placed, event }] of composed) fly(held, deliver(held, turn, placed, event), releases.pop()!)
      } catch (error) {
        for (const turn of turns) putBack(held, turn)
        throw error
      } finally {
        for (const release of releases) release()
        held.flights -= turns.length - begun.length
      }
    },

    /** Sends a webhook that events are missing. */
    async sendGap(held: Held): Promise<void> {
      const [release] = await slots.acquire(held, 1)
      try {
        const gap = parseGaps(held.webhook.gap)[0]!
        const id = `evt_gap_${fingerprint(`${held.webhook.id} ${JSON.stringify(gap)}`)}`
        const data = { ...gap, truncated: true }
        const body = JSON.stringify({ id, type: 'webhook.gap', timestamp: toInstant(ctx.now()), data })
        if (!(await isMine(held))) return lost(held)
        const outcome = await attempt(held, { id, body, position: gap.cursor })
        if (!outcome) return
        held.gap_state = afterAttempt(held.gap_state, outcome.stored, Math.random())
        // One that is never taken must not hold up the rest.
        if (held.gap_state.status !== 'pending') {
          held.webhook.gap = withoutFirstGap(held.webhook.gap)
          held.gap_state = UNSENT
        }
        results.add({ held, conversation_id: null, is_back: outcome.is_back, ...outcome.ended })
      } finally {
        release!()
      }
    },

    /** Parks an event behind another one of its conversation. */
    park(held: Held, entry: Entry, eventId: string): void {
      entry.phase = 'sent'
      addParked(held, entry.row.conversation_id, 1)
      const delivery = { ...toDelivery(held, entry, { id: ctx.id(), event_id: eventId }), attempts: '[]' }
      results.add({ held, entry, conversation_id: null, delivery })
    },

    /** Resolves when no call is being made. */
    async idle(): Promise<void> {
      while (flying.size > 0) await Promise.all(flying)
    },
  }
}

function toStored(at: number, { ms, status, error }: Attempted): StoredAttempt {
  return { at, ms, ...(status !== undefined && { status }), ...(error !== undefined && { error }) }
}

function endOf({ webhook }: Held, { status, error }: StoredAttempt, now: number): Pick<Result, 'ended'> {
  if (status === GONE) return { ended: 'gone' }
  return error !== undefined && hasFailedTooLong(webhook.failing_since, now) ? { ended: 'failing' } : {}
}

function toDelivery(
  { webhook }: Held,
  { row, position }: Entry,
  { id, event_id }: { id: string; event_id: string },
): DeliveryRow {
  const { type, conversation_id, id: event_number, created_at: at } = row
  const ids = { id, webhook_id: webhook.id, event_id, type, conversation_id, event_number }
  return { ...ids, position, at, status: 'pending', attempts: '[]', attempt_count: 0, next_at: null }
}

function resultOf(held: Held, { entry, delivery }: Turn): Result {
  if (entry) entry.phase = 'sent'
  return { held, ...(entry && { entry }), conversation_id: (entry?.row ?? delivery!).conversation_id }
}

/** An event that was not sent is read, or due, again. */
function putBack(held: Held, { entry, delivery }: Turn): void {
  if (entry) entry.phase = 'read'
  if (delivery) held.has_due = true
  endBusy(held, (entry?.row ?? delivery!).conversation_id, delivery?.id)
}

/** The receiver is told of an event that it never took. */
function noteGap(
  { webhook }: Held,
  { position: cursor, event_id, conversation_id }: DeliveryRow,
  reason: 'dead' | 'age',
): void {
  const gap = { cursor, reason, event_id, ...(conversation_id && { conversation_id }) }
  webhook.gap = addGap(webhook.gap, gap)
}
