import * as v from 'valibot'
import { POLICY_VALUES } from '../../core/policy.ts'
import { INSTANT_PATTERNS, MAX_INSTANT_LENGTH, withoutArrays } from '../../core/schema.ts'
import { AllowedAssistants } from './schema-assistant.ts'

/** Which messages notify a participant: all, those that concern the participant, or none. */
export const Level = v.picklist(['all', 'mentions', 'none'])
export type Level = v.InferOutput<typeof Level>

/** The participants that a policy allows an act: all, those whose role may post, moderate, manage or delete, or none. */
export const PolicyValue = v.picklist(POLICY_VALUES)
export type PolicyValue = v.InferOutput<typeof PolicyValue>

/** Whether participants see which messages others have read. */
export const Receipts = v.picklist(['on', 'off'])
export type Receipts = v.InferOutput<typeof Receipts>

/**
 * What users with `browse` see of a conversation without participating: nothing, its title, topic and icon, or all that its
 * participants read.
 */
export const Visibility = v.picklist(['private', 'listed', 'open'])
export type Visibility = v.InferOutput<typeof Visibility>

/** How a user becomes a participant of a conversation that is not private: by being added or invited, or by joining. */
export const JoinPolicy = v.picklist(['invite', 'anyone'])
export type JoinPolicy = v.InferOutput<typeof JoinPolicy>

/** Which users join a conversation by themselves when their account is created: those who are no guests, or all. */
export const AutoJoin = v.picklist(['members', 'everyone'])
export type AutoJoin = v.InferOutput<typeof AutoJoin>

// Without a name: generators of clients know null in a list of types only.
export const AutoJoinChange = v.pipe(
  v.nullable(v.picklist(AutoJoin.options)),
  v.description('Which users join by themselves, present and new ones; for owners who are administrators'),
)

const Act = v.optional(PolicyValue)

/** The rules of a conversation, which its owners and admins set. Without a value the role of a participant decides. */
export const ConversationPolicy = v.object({
  post: v.optional(v.pipe(PolicyValue, v.description('Who may begin threads'))),
  reply: v.optional(v.pipe(PolicyValue, v.description('Who may reply'))),
  react: Act,
  attach: Act,
  pin: Act,
  add: Act,
  invite: Act,
  join: v.optional(v.pipe(JoinPolicy, v.description('How users become participants; `invite` without a value'))),
  mention_all: PolicyValue,
  receipts: Receipts,
  assistants: v.optional(
    v.pipe(AllowedAssistants, v.description('The assistants that may be asked; all without a value')),
  ),
})
export type ConversationPolicy = v.InferOutput<typeof ConversationPolicy>

// Without a name: generators of clients know null in a list of types only.
const ActChange = v.optional(v.nullable(v.picklist(POLICY_VALUES)))

/** A change of the policy; missing fields keep their value, `null` removes it. Others are refused. */
export const PolicyChange = withoutArrays(
  v.strictObject({
    post: ActChange,
    reply: ActChange,
    react: ActChange,
    attach: ActChange,
    pin: ActChange,
    add: ActChange,
    invite: ActChange,
    join: v.optional(v.nullable(v.picklist(JoinPolicy.options))),
    mention_all: ActChange,
    receipts: v.optional(v.nullable(v.picklist(Receipts.options))),
    assistants: v.optional(AllowedAssistants),
  }),
)
export type PolicyChange = v.InferOutput<typeof PolicyChange>

/** One text, not an alternative: common generators of clients make no type of that. */
const MutedUntil = v.pipe(
  v.string(),
  v.regex(/^(forever|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z)$/),
  v.description('An instant, or `forever`; missing if the conversation is not muted'),
)
const MuteUntil = v.pipe(
  v.string(),
  v.maxLength(MAX_INSTANT_LENGTH),
  v.regex(INSTANT_PATTERNS.instant_or_forever, 'must be an RFC 3339 instant, or forever'),
)

const Favourite = v.optional(v.pipe(v.literal(true), v.description('Set if it is among the favourites of the caller')))

/** How many favourites a user has at most. */
export const MAX_FAVOURITES = 100

/** The settings of a participant for a conversation; no other participant sees them. */
export const ConversationSettings = v.object({
  level: v.pipe(Level, v.description('Of which messages the participant is notified')),
  muted_until: v.optional(MutedUntil),
  archived: v.pipe(v.boolean(), v.description('Whether the conversation is left out of the list')),
  receipts: v.pipe(v.boolean(), v.description('Whether others see what the participant has read, and the reverse')),
  favourite: Favourite,
})
export type ConversationSettings = v.InferOutput<typeof ConversationSettings>

/** A change of settings; missing fields keep their value. */
export const ConversationSettingsChange = v.object({
  level: v.optional(Level),
  muted_until: v.optional(
    v.pipe(
      v.nullable(MuteUntil),
      v.description(
        'An instant, or `forever`, which one after 2255-06-05 becomes; `null` or an instant in the past ends the muting',
      ),
    ),
  ),
  archived: v.optional(v.boolean()),
  favourite: v.optional(v.pipe(v.boolean(), v.description(`A user has at most ${MAX_FAVOURITES}`))),
  receipts: v.optional(v.boolean()),
})
export type ConversationSettingsChange = v.InferOutput<typeof ConversationSettingsChange>

/** The settings that the caller's view of a conversation depends on. */
export const OwnFields = {
  mentions: v.optional(
    v.pipe(
      v.number(),
      v.integer(),
      v.description('Unread notifications of kind `mention`, `mention_all` or `reply` of the caller'),
    ),
  ),
  level: v.optional(v.pipe(Level, v.description('The level of the caller'))),
  muted_until: v.optional(MutedUntil),
  archived: v.optional(v.pipe(v.literal(true), v.description('Set if the caller has archived the conversation'))),
  favourite: Favourite,
}
