import * as v from 'valibot'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { Id, Instant, Limit, opaque, text, withoutArrays } from '../../core/schema.ts'

/** The maximum number of headers of a webhook, and of the types that it names. */
const MAX_HEADERS = 5
const MAX_TYPES = 50

/** The maximum length of the value of a header. */
const MAX_HEADER_VALUE = 1024

/** The longest name of a type or of all below a word. */
const MAX_TYPE = 64

/** What a header may be called: no name of the protocol or of the service. */
const HEADER_NAME = /^(authorization|x-(?!chat-server-)[a-z0-9-]{1,62})$/i

/** A field of a header (RFC 9110, section 5.5), without outer spaces. */
const HEADER_VALUE = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/

const HEADERS_FORM = `must be at most ${MAX_HEADERS} headers, authorization or x-…, of at most ${MAX_HEADER_VALUE} printable characters each`

/** Headers that are sent with each event, by name. */
export const WebhookHeaders = v.pipe(
  withoutArrays(v.record(v.string(), v.string())),
  v.check(areHeaders, HEADERS_FORM),
  // Narrower than the check, which JSON Schema cannot express.
  v.metadata({
    maxProperties: MAX_HEADERS,
    propertyNames: { pattern: '^(authorization|x-[abd-z0-9][a-z0-9-]{0,61})$' },
    additionalProperties: { type: 'string', pattern: '^[!-~]{1,1024}$' },
  }),
  v.description(
    `At most ${MAX_HEADERS}: \`authorization\`, or names that begin with \`x-\`, but not with \`x-chat-server-\`; values of at most ${MAX_HEADER_VALUE} printable characters. Stored encrypted; no answer has the values`,
  ),
)

function areHeaders(headers: Record<string, string>): boolean {
  const entries = Object.entries(headers)
  const names = new Set(entries.map(([name]) => name.toLowerCase()))
  return (
    entries.length <= MAX_HEADERS &&
    names.size === entries.length &&
    entries.every(
      ([name, value]) => HEADER_NAME.test(name) && value.length <= MAX_HEADER_VALUE && HEADER_VALUE.test(value),
    )
  )
}

const Type = v.pipe(text(MAX_TYPE), v.regex(/^[a-z.*]+$/), v.metadata({ pattern: '^[a-z.*]+$' }))

const Url = v.pipe(
  text(MAX_LENGTH.url),
  v.description('An https URL of another machine, without a user part or a fragment'),
)

const Remark = v.pipe(text(MAX_LENGTH.remark), v.description('What it is for; an empty text removes it'))

/** What the owner of a webhook chooses. */
const SETTINGS = {
  types: v.optional(
    v.pipe(
      v.array(Type),
      v.minLength(1),
      v.maxLength(MAX_TYPES),
      v.description(
        'Types of events; `message.*` and `*` include later ones. Default: `message.new` and `message.done`, of a bot also `command.invoked`',
      ),
    ),
  ),
  only: v.optional(
    v.pipe(
      v.picklist(['all', 'notified']),
      v.description(
        '`notified`: of `message.new` only what mentions the owner, replies to the owner, or is in a direct conversation. Default: `all`',
      ),
    ),
  ),
  bots: v.optional(
    v.pipe(
      v.boolean(),
      v.description('Whether messages of other bots and hooks are sent. Default: true; of a bot, false'),
    ),
  ),
  order: v.optional(
    v.pipe(
      v.picklist(['none', 'conversation']),
      v.description(
        '`conversation`: an event waits until the one before it in its conversation is settled. Default: `none`',
      ),
    ),
  ),
  parallel: v.optional(
    v.pipe(
      v.number(),
      v.integer(),
      v.minValue(1),
      v.maxValue(16),
      v.description('Calls at a time; with `order: conversation`, conversations at a time. Default: 4'),
    ),
  ),
  payload: v.optional(
    v.pipe(
      v.picklist(['full', 'thin']),
      v.description('`thin`: of `data` only ids, enumerations, numbers and instants. Default: `full`'),
    ),
  ),
  signature: v.optional(
    v.pipe(
      v.picklist(['v1', 'v1a']),
      v.description('`v1`: HMAC-SHA256 with a secret; `v1a`: Ed25519, checked with a public key. Default: `v1`'),
    ),
  ),
  headers: v.optional(WebhookHeaders),
  description: v.optional(Remark),
}

const Since = v.pipe(
  opaque(MAX_LENGTH.position),
  v.description(
    'The instant or the position from which events are sent. Default: now. What the log has no more is skipped',
  ),
)

/** A new webhook. */
export const WebhookInput = v.object({
  url: Url,
  bot_id: v.optional(v.pipe(Id, v.description('A bot of the caller, whose events it gets, by the rights of the bot'))),
  conversation_id: v.optional(v.pipe(Id, v.description('Only the events of this conversation'))),
  ...SETTINGS,
  since: v.optional(Since),
})
export type WebhookInput = v.InferOutput<typeof WebhookInput>

/** A new webhook as any actor makes it; `content` is for the operator, whose webhooks get the events of all conversations. */
export const WebhookOfActor = v.object({
  ...WebhookInput.entries,
  content: v.optional(v.boolean()),
})
export type WebhookOfActor = v.InferOutput<typeof WebhookOfActor>

/** Changes of a webhook; a missing field keeps its value. */
export const WebhookChanges = v.object({
  url: v.optional(Url),
  conversation_id: v.optional(
    v.nullable(v.pipe(Id, v.description('Only the events of this conversation; `null`: of all'))),
  ),
  ...SETTINGS,
  since: v.optional(Since),
  enabled: v.optional(v.boolean()),
})
export type WebhookChanges = v.InferOutput<typeof WebhookChanges>

export const WebhooksQuery = v.object({
  bot_id: v.optional(v.pipe(Id, v.description('Only those of this bot'))),
})
export type WebhooksQuery = v.InferOutput<typeof WebhooksQuery>

/** Which webhooks any actor lists, a page at a time: the operator has those of all users. */
export const WebhooksOfActorQuery = v.object({
  ...WebhooksQuery.entries,
  after: v.optional(v.pipe(Id, v.description('`next_after` of the previous page'))),
  limit: Limit(50, 200),
})
export type WebhooksOfActorQuery = v.InferOutput<typeof WebhooksOfActorQuery>

/** Whether events are sent. */
export const WebhookStatus = v.picklist(['unverified', 'active', 'disabled'])
export type WebhookStatus = v.InferOutput<typeof WebhookStatus>

/** Why a webhook sends nothing any more. */
export const DisabledReason = v.picklist([
  'user',
  'admin',
  'gone',
  'failing',
  'restored',
  'key',
  'lockdown',
  'secret_lost',
])
export type DisabledReason = v.InferOutput<typeof DisabledReason>

/** A webhook as its owner reads it. */
export const Webhook = v.object({
  id: Id,
  user_id: v.optional(v.pipe(Id, v.description('The owner; missing for those of the operator'))),
  bot_id: v.optional(Id),
  url: v.string(),
  types: v.array(v.string()),
  conversation_id: v.optional(Id),
  only: v.picklist(['all', 'notified']),
  bots: v.boolean(),
  order: v.picklist(['none', 'conversation']),
  parallel: v.pipe(v.number(), v.integer()),
  payload: v.picklist(['full', 'thin']),
  content: v.optional(v.pipe(v.literal(true), v.description('Of the operator: its thin events have texts'))),
  signature: v.picklist(['v1', 'v1a']),
  headers: v.pipe(v.array(v.string()), v.description('The names alone')),
  description: v.optional(v.string()),
  status: WebhookStatus,
  disabled_reason: v.optional(DisabledReason),
  position: v.pipe(v.string(), v.description('All events before it are settled')),
  lag_seconds: v.pipe(v.number(), v.minValue(0), v.description('The age of the oldest event that waits')),
  parked: v.pipe(v.number(), v.integer(), v.minValue(0), v.description('Events that are sent again later')),
  public_key: v.optional(v.pipe(v.string(), v.description('With `signature: v1a`: checks the signatures'))),
  last_success_at: v.optional(Instant),
  created_at: Instant,
})
export type Webhook = v.InferOutput<typeof Webhook>

export const WebhookAnswer = v.object({ webhook: Webhook })
export type WebhookAnswer = v.InferOutput<typeof WebhookAnswer>

export const Webhooks = v.object({ webhooks: v.array(Webhook) })
export type Webhooks = v.InferOutput<typeof Webhooks>

/** A page of webhooks, oldest first. */
export const WebhooksPage = v.object({ ...Webhooks.entries, next_after: v.optional(Id) })
export type WebhooksPage = v.InferOutput<typeof WebhooksPage>

/** A new webhook, with its secret. */
export const CreatedWebhook = v.object({
  webhook: Webhook,
  secret: v.optional(
    v.pipe(v.string(), v.description('Checks the signatures; shown only once. Missing with `signature: v1a`')),
  ),
})
export type CreatedWebhook = v.InferOutput<typeof CreatedWebhook>

/** A new secret; the former one signs beside it for a day. */
export const RotatedSecret = v.object({
  secret: v.optional(v.pipe(v.string(), v.description('Shown only once'))),
  public_key: v.optional(v.pipe(v.string(), v.description('With `signature: v1a`, instead of a secret'))),
})
export type RotatedSecret = v.InferOutput<typeof RotatedSecret>

/** What a call brought. */
export const CallOutcome = v.object({
  status: v.optional(v.pipe(v.number(), v.integer(), v.description('Of the answer, if there was one'))),
  ms: v.pipe(v.number(), v.minValue(0)),
  error: v.optional(
    v.pipe(
      v.string(),
      v.description(
        'Why it failed: `address_forbidden`, `dns`, `connect`, `tls`, `timeout`, `status`, `protocol`, or `challenge` where it was not returned',
      ),
    ),
  ),
})
export type CallOutcome = v.InferOutput<typeof CallOutcome>

/** Which webhooks an administrator lists, a page at a time. */
export const AllWebhooksQuery = v.object({
  user_id: v.optional(v.pipe(Id, v.description('Only those of this user'))),
  host: v.optional(v.pipe(text(MAX_LENGTH.url), v.description('Only those of this host, with a port if it has one'))),
  status: v.optional(v.pipe(WebhookStatus, v.description('Only those that are so'))),
  after: v.optional(v.pipe(Id, v.description('`next_after` of the previous page'))),
  limit: Limit(50, 200),
})
export type AllWebhooksQuery = v.InferOutput<typeof AllWebhooksQuery>

/** A webhook of any user, as an administrator reads it: without the path and the query of its URL, which may be a secret. */
export const WebhookOfUser = v.object({
  id: Id,
  user_id: v.optional(Id),
  bot_id: v.optional(Id),
  host: v.string(),
  status: WebhookStatus,
  disabled_reason: v.optional(DisabledReason),
  last_success_at: v.optional(Instant),
  created_at: Instant,
})
export type WebhookOfUser = v.InferOutput<typeof WebhookOfUser>

/** A page of webhooks, newest first. */
export const WebhooksOfUsers = v.object({ webhooks: v.array(WebhookOfUser), next_after: v.optional(Id) })
export type WebhooksOfUsers = v.InferOutput<typeof WebhooksOfUsers>

/** What an administrator changes of any webhook. */
export const WebhookSwitch = v.object({ enabled: v.boolean() })
export type WebhookSwitch = v.InferOutput<typeof WebhookSwitch>

export const SwitchedWebhook = v.object({ webhook: WebhookOfUser })
export type SwitchedWebhook = v.InferOutput<typeof SwitchedWebhook>
