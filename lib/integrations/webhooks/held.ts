import { type Condition, createCondition } from '../../core/scheduling/condition.ts'
import type { FeedRow, Place } from '../../live/feed/feed-order.ts'
import type { History } from '../../storage/histories.ts'
import type { Micros } from '../../storage/sql.ts'
import type { Known } from './list.ts'
import { type DeliveryState, type Pace, type StoredAttempt, UNSENT, wasAway } from './rules-schedule.ts'
import type { OpenedWebhook } from './secrets.ts'
import type { WebhookRow } from './store.ts'
import type { DeliveryRow } from './store-deliveries.ts'

/** The names of the history of positions, and of those of events. */
export interface LogHistory {
  epoch: string
  histories: readonly History[]
}

/** An event of the log on its way to a webhook for the first time. */
export interface Entry {
  row: FeedRow
  /** The place before it. */
  before: Place
  /** The position right after it. */
  position: string
  /** `sent` is one whose result, or that there is none, is not stored yet. */
  phase: 'read' | 'sending' | 'sent'
  /** Whether it, or one behind it, was begun: some behind it may be settled, even where none is on its way any more. */
  is_passed: boolean
}

/** A place beyond the position of a webhook up to which all is settled but some events. */
export interface Ahead {
  place: Place
  /** Their numbers. */
  open: Set<number>
}

/** An event that is to be sent now: for the first time, or again. */
export type Turn = { entry: Entry; delivery?: undefined } | { delivery: DeliveryRow; entry?: undefined }

/** A webhook for which this process sends. */
export interface Held {
  /** As it is stored, with what sending has changed since. */
  readonly webhook: WebhookRow
  readonly opened: OpenedWebhook
  /** What this process keeps of it when it sends for it no more. */
  readonly known: Pick<Known, 'route' | 'untrimmed'>
  /** Up to where the log was read. */
  place: Place
  /** Rows up to here are not sent again, whatever is read. */
  read_before: Place | undefined
  /** What was settled by each of the processes before, until the log is read to its end. */
  ahead: Ahead[]
  /** Where to read on, if no row before concerns it. */
  skip_to: Place | undefined
  /** Whether there may be rows to read. */
  is_behind: boolean
  /** What was read and is not stored, in the order of the log. */
  readonly entries: Entry[]
  /** Events that are due again, and whether there may be more of them. */
  due: DeliveryRow[]
  has_due: boolean
  /** The numbers of events that wait, by conversation. */
  readonly parked: Map<string | null, number>
  /** Ids of deliveries, and conversations, of which an attempt is made or not stored. */
  readonly busy: Set<string>
  pace: Pace
  flights: number
  /** Whether the last one was sent again: these and first attempts take turns. */
  was_again: boolean
  /** The attempts to send that events are missing. */
  gap_state: DeliveryState
  state: 'held' | 'ended'
  /** When it had last something to do. */
  used_at: Micros
  readonly changed: Condition
}

/** The most events that wait for another attempt: then the position waits, too. */
export const MAX_PARKED = 1_000

/** The number of processes of which it is kept what they had settled, where many die before one has caught up. */
const MAX_AHEAD = 4

/** How many events are read ahead of those that are sent, and of a webhook that may make one call at a time. */
const MAX_ENTRIES = 256
const MAX_SUSPECT_ENTRIES = 16

/** The number of rows that a webhook reads at once. */
const PAGE = 512

export function createHeld(
  parts: Pick<Held, 'webhook' | 'opened' | 'known' | 'place' | 'ahead' | 'parked' | 'used_at'>,
): Held {
  return {
    ...parts,
    read_before: undefined,
    skip_to: undefined,
    is_behind: true,
    entries: [],
    due: [],
    has_due: true,
    busy: new Set(),
    pace: { limit: parts.webhook.parallel, successes: 0 },
    flights: 0,
    was_again: false,
    gap_state: UNSENT,
    state: 'held',
    changed: createCondition(),
  }
}

/** Whether a webhook may have one call at a time only: the last one failed, or none has ever succeeded. */
export const isSuspect = ({ webhook }: Held) => webhook.last_failed === 1 || webhook.last_success_at === null

/** Whether its receiver has asked for a pause. */
export const isPaused = ({ webhook: { paused_until } }: Held, now: Micros) =>
  paused_until !== null && paused_until > now

/** How many more calls a webhook may make now. */
export const freeFlights = (held: Held) => (isSuspect(held) ? 1 : held.pace.limit) - held.flights

/** All events before this place are settled, or wait as rows of their own. */
export const settledPlace = ({ entries, place }: Pick<Held, 'entries' | 'place'>): Place => entries[0]?.before ?? place

/** What is settled beyond {@link settledPlace}: events that were begun later may end earlier. */
export function settledAhead({ entries, place, ahead }: Pick<Held, 'entries' | 'place' | 'ahead'>): Ahead[] {
  const last = entries.findLastIndex(({ is_passed }) => is_passed)
  if (last < 0) return ahead
  const open = entries.slice(0, last + 1).map(({ row }) => row.id)
  return [...ahead, { place: entries[last + 1]?.before ?? place, open: new Set(open) }].slice(-MAX_AHEAD)
}

/** A webhook as it is when these events are settled. */
export function withoutSettled(held: Held, settled: ReadonlySet<Entry>): Held {
  const numbers = new Set([...settled].map(({ row }) => row.id))
  return {
    ...held,
    entries: held.entries.filter((entry) => !settled.has(entry)),
    ahead: held.ahead.map(({ place, open }) => ({
      place,
      open: new Set([...open].filter((id) => !numbers.has(id))),
    })),
  }
}

/** An event of the log is settled, or waits as a row of its own. */
export function endEntry({ entries, ahead }: Held, entry: Entry): void {
  entries.splice(entries.indexOf(entry), 1)
  for (const { open } of ahead) open.delete(entry.row.id)
}

export function countParked({ parked }: Held): number {
  let sum = 0
  for (const count of parked.values()) sum += count
  return sum
}

export function addParked({ parked }: Held, conversationId: string | null, by: 1 | -1): void {
  const count = (parked.get(conversationId) ?? 0) + by
  if (count > 0) parked.set(conversationId, count)
  else parked.delete(conversationId)
}

/** How many rows of the log are to be read now: few of them may be for the webhook. */
export function toRead(held: Held): number {
  const isFull = held.entries.length >= (isSuspect(held) ? MAX_SUSPECT_ENTRIES : MAX_ENTRIES)
  if (!held.is_behind || isFull || countParked(held) >= MAX_PARKED) return 0
  return PAGE
}

/** How many events are kept of those that are read: many webhooks whose receivers hang would keep what they cannot send. */
export const toKeep = (held: Held) => (isSuspect(held) ? MAX_SUSPECT_ENTRIES : PAGE)

/** The events to send next, at most so many. Those of a conversation that has to wait are parked. */
export function takeTurns(held: Held, most: number, park: (entry: Entry) => void): Turn[] {
  const turns: Turn[] = []
  while (turns.length < most) {
    const turn = held.was_again ? (takeFirst(held, park) ?? takeDue(held)) : (takeDue(held) ?? takeFirst(held, park))
    if (!turn) return turns
    held.was_again = turn.delivery !== undefined
    turns.push(turn)
  }
  return turns
}

const isOrdered = ({ webhook }: Held) => webhook.event_order === 'conversation'

const conversationKey = (id: string | null) => `conversation ${id}`

function takeDue(held: Held): Turn | undefined {
  const n = held.due.findIndex(
    ({ id, conversation_id }) =>
      !held.busy.has(id) && !(isOrdered(held) && held.busy.has(conversationKey(conversation_id))),
  )
  const delivery = n < 0 ? undefined : held.due.splice(n, 1)[0]
  if (!delivery) return undefined
  held.busy.add(delivery.id)
  if (isOrdered(held)) held.busy.add(conversationKey(delivery.conversation_id))
  return { delivery }
}

function takeFirst(held: Held, park: (entry: Entry) => void): Turn | undefined {
  const passed = new Set<string>()
  for (const [n, entry] of held.entries.entries()) {
    if (entry.phase !== 'read') continue
    const { conversation_id } = entry.row
    const key = conversationKey(conversation_id)
    if (isOrdered(held) && (held.busy.has(key) || passed.has(key))) {
      passed.add(key)
      continue
    }
    pass(held, n)
    if (isOrdered(held) && held.parked.has(conversation_id)) {
      park(entry)
      continue
    }
    entry.phase = 'sending'
    if (isOrdered(held)) held.busy.add(key)
    return { entry }
  }
  return undefined
}

function pass({ entries }: Held, n: number): void {
  for (const entry of entries.slice(0, n + 1)) entry.is_passed = true
}

/** An event is no longer on its way, so that the next one of its conversation may be. */
export function endBusy(held: Held, conversationId: string | null, deliveryId?: string): void {
  held.busy.delete(conversationKey(conversationId))
  if (deliveryId !== undefined) held.busy.delete(deliveryId)
}

/** Notes on a webhook what an attempt has shown of its receiver. @returns whether it has come back after failures */
export function noteAttempt(held: Held, attempt: StoredAttempt, paused_until: Micros | undefined): boolean {
  const { webhook } = held
  const hadFailed = webhook.last_failed === 1
  if (attempt.error === undefined) {
    // A pause that another call has brought meanwhile goes on.
    Object.assign(webhook, { last_failed: 0, failing_since: null, last_success_at: attempt.at })
    return hadFailed
  }
  Object.assign(webhook, { last_failed: 1, failing_since: webhook.failing_since ?? attempt.at })
  if (paused_until !== undefined) webhook.paused_until = Math.max(paused_until, webhook.paused_until ?? 0)
  return false
}

/** Whether an event is sent again at once when its receiver has come back. */
export function wasMissed({ attempts }: Pick<DeliveryRow, 'attempts'>): boolean {
  const last = (JSON.parse(attempts) as StoredAttempt[]).at(-1)
  return last !== undefined && wasAway(last)
}
