import * as v from 'valibot'
import { KeyName } from '../../accounts/api-keys/schema.ts'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { Id, Instant, text } from '../../core/schema.ts'

/** A new hook. */
export const HookInput = v.object({
  name: v.pipe(KeyName, v.description('The name under which it posts: visible, with no control characters')),
  root_id: v.optional(
    v.pipe(Id, v.description('The thread of the conversation in which it replies; without it, each post begins one')),
  ),
})
export type HookInput = v.InferOutput<typeof HookInput>

/** A hook as those read it who manage the conversation: its address is shown only once. */
export const IncomingHook = v.object({
  id: Id,
  conversation_id: Id,
  name: v.string(),
  bot_id: v.pipe(Id, v.description('The author of its messages')),
  root_id: v.optional(Id),
  created_by: v.optional(v.pipe(Id, v.description('Missing for the operator'))),
  created_at: Instant,
})
export type IncomingHook = v.InferOutput<typeof IncomingHook>

export const IncomingHooks = v.object({ hooks: v.array(IncomingHook) })
export type IncomingHooks = v.InferOutput<typeof IncomingHooks>

/** A new hook, with its address. */
export const CreatedHook = v.object({
  hook: IncomingHook,
  url: v.pipe(
    v.string(),
    v.description(
      'To which a tool posts: a caller that has it can post. Shown only once; a path where no public URL is configured',
    ),
  ),
})
export type CreatedHook = v.InferOutput<typeof CreatedHook>

/** What is checked where it is read: within the bounds of a body. */
export const Unchecked = v.unknown()

/**
 * What a tool posts: `content`, with `parent_id` and `metadata`; or `text`, `blocks` and `attachments` of a message of Slack.
 */
export const HookBody = v.object({
  // A tool that fills a template may leave it empty beside the text of a body of Slack.
  content: v.optional(v.nullable(text(MAX_LENGTH.message))),
  parent_id: v.optional(Id),
  metadata: v.optional(Unchecked),
  text: v.optional(Unchecked),
  blocks: v.optional(Unchecked),
  attachments: v.optional(Unchecked),
})
export type HookBody = v.InferOutput<typeof HookBody>

/** A post of a tool, with what its request has in headers. */
export const HookPost = v.object({
  ...HookBody.entries,
  idempotency_key: v.optional(text(MAX_LENGTH.token)),
  origin: v.optional(
    v.pipe(text(MAX_LENGTH.token), v.description('The service that sends it, if it is one of this program')),
  ),
})
export type HookPost = v.InferOutput<typeof HookPost>

/** A message that a tool has posted. */
export const HookMessage = v.object({
  message_id: Id,
  root_id: Id,
  idempotency_replayed: v.optional(v.literal('true')),
})
export type HookMessage = v.InferOutput<typeof HookMessage>
