import { parseTypes } from '../../chat/feed/rules.ts'
import { ChatError } from '../../core/errors.ts'
import type { Micros } from '../../storage/sql.ts'
import type { WebhookChanges, WebhookInput } from './schema.ts'
import type { WebhookRow } from './store.ts'

/** Types that no webhook gets: parts of answers, of which there are thousands, and what a program has brought in itself. */
const NOT_SENT: readonly string[] = ['message.delta', 'message.part', 'conversation.loaded']

const DEFAULT_TYPES = ['message.new', 'message.done']

/** What a bot gets as well, if its service has commands. */
const DEFAULT_OF_BOTS = 'command.invoked'

/** The types of events that names of types include: those that webhooks get. @throws ChatError `validation_failed` */
export function toSentTypes(names: readonly string[]): ReadonlySet<string> {
  const all = parseTypes([...names].join(','))
  return new Set([...all].filter((type) => !NOT_SENT.includes(type)))
}

/** The names of types that a webhook stores. @throws ChatError `validation_failed` for an unknown one, and for one that is not sent */
export function checkTypes(names: readonly string[] | undefined, isOfBot: boolean): string {
  if (names === undefined)
    return JSON.stringify(isOfBot ? [...DEFAULT_TYPES, ...knownOf(DEFAULT_OF_BOTS)] : DEFAULT_TYPES)
  for (const name of names)
    if (toSentTypes([name]).size === 0)
      throw new ChatError('validation_failed', { errors: [{ path: 'types', message: `must not have ${name}` }] })
  return JSON.stringify([...new Set(names)])
}

function knownOf(type: string): string[] {
  return parseTypes('*').has(type) ? [type] : []
}

/** The host of a URL, as lists of trusted hosts name it: with a port that is not that of its scheme. */
export function toHost(url: string): string {
  const { hostname, host } = new URL(url)
  return host.replace(hostname, hostname.replace(/\.$/, ''))
}

/** Which URLs need no challenge. */
export interface Trust {
  hosts: readonly string[]
  /** Whether the actor is an administrator or the operator. */
  isAdmin: boolean
}

/** Whether a URL must return a challenge before it is sent anything: a new one of a user, or a changed one. */
function needsChallenge(host: string, { hosts, isAdmin }: Trust, { isNew }: { isNew: boolean }): boolean {
  return !(isNew && isAdmin) && !hosts.some((trusted) => trusted.toLowerCase() === host)
}

/** What of a webhook is of its making. */
type Made = Pick<
  WebhookRow,
  | 'id'
  | 'user_id'
  | 'bot_id'
  | 'key_id'
  | 'secret'
  | 'public_key'
  | 'headers'
  | 'header_names'
  | 'has_content'
  | 'position'
  | 'gap'
  | 'created_at'
>

/** A new webhook. @throws ChatError `validation_failed` for types */
export function planWebhook(made: Made, input: WebhookInput, trust: Trust): WebhookRow {
  const host = toHost(input.url)
  const isOperators = made.user_id === null
  const isUnverified = needsChallenge(host, trust, { isNew: true })
  return {
    ...made,
    url: input.url,
    host,
    types: checkTypes(input.types, made.bot_id !== null),
    conversation_id: input.conversation_id ?? null,
    only_notified: input.only === 'notified' ? 1 : 0,
    bots: (input.bots ?? made.bot_id === null) ? 1 : 0,
    event_order: input.order ?? 'none',
    parallel: input.parallel ?? 4,
    payload: isOperators && made.has_content === 0 ? 'thin' : (input.payload ?? 'full'),
    signature: input.signature ?? 'v1',
    previous_secret: null,
    rotated_at: null,
    ahead: null,
    description: input.description || null,
    status: isUnverified ? 'unverified' : 'active',
    disabled_reason: null,
    disabled_at: null,
    unverified_at: isUnverified ? made.created_at : null,
    failing_since: null,
    paused_until: null,
    last_success_at: null,
    last_failed: 0,
  }
}

/** A webhook with what its owner changes, but for what is sealed. @throws ChatError `validation_failed` for types */
export function planChange(
  before: WebhookRow,
  input: WebhookChanges,
  { trust, now }: { trust: Trust; now: Micros },
): WebhookRow {
  const after: WebhookRow = {
    ...before,
    ...(input.types && { types: checkTypes(input.types, before.bot_id !== null) }),
    ...(input.conversation_id !== undefined && { conversation_id: input.conversation_id }),
    ...(input.only && { only_notified: input.only === 'notified' ? 1 : 0 }),
    ...(input.bots !== undefined && { bots: input.bots ? 1 : 0 }),
    ...(input.order && { event_order: input.order }),
    ...(input.parallel !== undefined && { parallel: input.parallel }),
    ...(input.payload && before.user_id !== null && { payload: input.payload }),
    ...(input.signature && { signature: input.signature }),
    ...(input.description !== undefined && { description: input.description || null }),
  }
  if (input.url === undefined || input.url === before.url) return after
  const host = toHost(input.url)
  const isUnverified = needsChallenge(host, trust, { isNew: false })
  return {
    ...after,
    url: input.url,
    host,
    unverified_at: isUnverified ? now : null,
    ...(before.status !== 'disabled' && { status: isUnverified ? 'unverified' : 'active' }),
  }
}

/** The columns of what an owner changes, by the names of the API. */
const NAMES = {
  url: 'url',
  types: 'types',
  conversation_id: 'conversation_id',
  only_notified: 'only',
  bots: 'bots',
  event_order: 'order',
  parallel: 'parallel',
  payload: 'payload',
  signature: 'signature',
  headers: 'headers',
  description: 'description',
  status: 'status',
} as const

/** The names of what differs, without the values, which may be secrets. */
export function changesOf(before: WebhookRow, after: WebhookRow): string[] {
  const columns = Object.keys(NAMES) as (keyof typeof NAMES)[]
  return columns.filter((column) => before[column] !== after[column]).map((column) => NAMES[column])
}

/** The reasons after which events are sent from the enabling on, and not from where the webhook stopped. */
const FROM_NOW: readonly WebhookRow['disabled_reason'][] = ['restored', 'secret_lost']

/** Whether a webhook begins anew when it is enabled. */
export function beginsNow({ disabled_reason }: Pick<WebhookRow, 'disabled_reason'>): boolean {
  return FROM_NOW.includes(disabled_reason)
}

/**
 * A webhook that is enabled or disabled.
 *
 * @throws ChatError `conflict` for one that has not returned a challenge; `forbidden` to enable one that an administrator has
 *   disabled
 */
export function planSwitch(
  before: WebhookRow,
  isEnabled: boolean,
  { isAdmin, reason, now }: { isAdmin: boolean; reason: 'user' | 'admin'; now: Micros },
): WebhookRow {
  if (before.status === 'unverified') throw new ChatError('conflict', { message: UNVERIFIED })
  if (!isEnabled)
    return before.status === 'disabled' && (reason === 'user' || before.disabled_reason === 'admin')
      ? before
      : { ...before, status: 'disabled', disabled_reason: reason, disabled_at: now }
  if (before.status === 'active') return before
  if (before.disabled_reason === 'admin' && !isAdmin)
    throw new ChatError('forbidden', { reason: 'role', message: 'An administrator has disabled this webhook.' })
  return {
    ...before,
    // That which made it is gone: from now on it is the owner's.
    key_id: before.disabled_reason === 'key' ? null : before.key_id,
    status: before.unverified_at === null ? 'active' : 'unverified',
    disabled_reason: null,
    disabled_at: null,
    // Seven days from now on.
    unverified_at: before.unverified_at === null ? null : now,
  }
}

/** What a webhook answers that has not returned a challenge. */
export const UNVERIFIED = 'The webhook is not verified yet.'

/** Whether an answer returns a challenge: as its text, or as `{ challenge }`. */
export function isEcho(body: string, challenge: string): boolean {
  if (body.trim() === challenge) return true
  try {
    const parsed: unknown = JSON.parse(body)
    return typeof parsed === 'object' && parsed !== null && (parsed as { challenge?: unknown }).challenge === challenge
  } catch {
    return false
  }
}
