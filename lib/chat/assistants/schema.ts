import * as v from 'valibot'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { Id, text } from '../../core/schema.ts'

const KEY = '^[a-z][a-z0-9_-]*$'

/** The key of an assistant, as it is configured and written after `@`. */
export const AssistantKey = v.pipe(
  text(MAX_LENGTH.assistant_key),
  v.regex(new RegExp(KEY), 'must be the key of an assistant'),
  v.metadata({ pattern: KEY }),
)

export const AssistantsQuery = v.object({
  conversation_id: v.optional(
    v.pipe(Id, v.description('Only those that the caller may ask in this conversation, which the caller can read')),
  ),
})
export type AssistantsQuery = v.InferOutput<typeof AssistantsQuery>

/** The approval that each call of a tool needs. */
export const ApprovalRule = v.object({
  by: v.pipe(
    v.picklist(['asker', 'admins', 'members']),
    v.description('The user who asked, those who manage the conversation, or those who may post there'),
  ),
  quorum: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(10), v.description('How many must approve')),
  not_asker: v.pipe(v.boolean(), v.description('Whether the user who asked may not approve')),
  keys: v.pipe(v.boolean(), v.description('Whether API keys and tokens of apps may decide for their user')),
  expires_seconds: v.pipe(
    v.number(),
    v.integer(),
    v.minValue(60),
    v.maxValue(2_592_000),
    v.description('After this time without a decision a call is not run'),
  ),
})
export type ApprovalRule = v.InferOutput<typeof ApprovalRule>

/** A tool that an assistant may use. It has no `approval` if no call needs one, or if that depends on the input. */
export const AssistantTool = v.object({
  name: v.string(),
  title: v.string(),
  approval: v.optional(ApprovalRule),
})
export type AssistantTool = v.InferOutput<typeof AssistantTool>

/** An assistant that a user may ask. */
export const AssistantInfo = v.object({
  key: v.pipe(v.string(), v.description('Names it in posts, and after `@` in texts')),
  title: v.string(),
  avatar_url: v.optional(v.pipe(v.string(), v.description('The picture beside its answers'))),
  default: v.optional(v.pipe(v.literal(true), v.description('Answers where nothing chooses another one'))),
  tools: v.pipe(v.array(AssistantTool), v.description('What it may use')),
  images: v.pipe(v.boolean(), v.description('Whether its model gets the pictures of a thread')),
  text_files: v.pipe(v.boolean(), v.description('Whether its model gets the texts of files')),
})
export type AssistantInfo = v.InferOutput<typeof AssistantInfo>

/** The assistants that a user may ask, the default first. */
export const AssistantList = v.object({
  assistants: v.array(AssistantInfo),
  label: v.pipe(v.string(), v.description('What to show at generated text')),
  notice: v.optional(v.pipe(v.string(), v.description('What to show before the first question of a user'))),
})
export type AssistantList = v.InferOutput<typeof AssistantList>
