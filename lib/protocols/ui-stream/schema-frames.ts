import * as v from 'valibot'
import { MessageStatus, Usage } from '../../chat/answers/schema.ts'
import { Id, Instant } from '../../core/schema.ts'

const frame = <T extends string, E extends v.ObjectEntries>(type: T, entries: E) =>
  v.object({ type: v.literal(type), ...entries })

/** Where an answer is, for its client. */
export const UiStartMetadata = v.object({
  message_id: Id,
  root_id: Id,
  conversation_id: Id,
  variant_of: v.optional(Id),
})

/** How an answer has ended. */
export const UiFinishMetadata = v.object({
  status: MessageStatus,
  finish_reason: v.optional(v.string()),
  usage: v.optional(Usage),
})

/** A call of a tool on which participants decide: sent when it waits, and again once it is decided. */
export const UiApproval = v.object({
  call_id: Id,
  state: v.picklist(['waiting', 'approved', 'denied', 'expired', 'cancelled']),
  expires_at: v.optional(Instant),
})

/** An answer begins, or goes on after a decision. */
export const UiStartFrame = frame('start', { messageId: Id, messageMetadata: UiStartMetadata })

/** An answer has ended, or waits for a decision: then `finishReason` is `tool-calls`. */
export const UiFinishFrame = frame('finish', {
  finishReason: v.picklist(['stop', 'length', 'content-filter', 'tool-calls', 'error', 'other']),
  messageMetadata: UiFinishMetadata,
})

/** The begin, a piece, or the end of a text, or of what the model wrote before it answered. */
export const UiTextFrame = v.object({
  type: v.picklist(['text-start', 'text-delta', 'text-end', 'reasoning-start', 'reasoning-delta', 'reasoning-end']),
  id: v.string(),
  delta: v.optional(v.string()),
})

/** A call of a tool begins, or has its input. */
export const UiToolInputFrame = v.object({
  type: v.picklist(['tool-input-start', 'tool-input-available']),
  toolCallId: Id,
  toolName: v.string(),
  title: v.optional(v.string()),
  input: v.optional(v.unknown()),
  dynamic: v.literal(true),
  providerExecuted: v.literal(true),
})

/** A call of a tool has ended, or waits. */
export const UiToolOutputFrame = v.object({
  type: v.picklist(['tool-approval-request', 'tool-output-available', 'tool-output-error', 'tool-output-denied']),
  toolCallId: Id,
  approvalId: v.optional(Id),
  output: v.optional(v.unknown()),
  errorText: v.optional(v.string()),
  dynamic: v.optional(v.literal(true)),
  providerExecuted: v.optional(v.literal(true)),
})

/** What an answer refers to. */
export const UiSourceFrame = v.object({
  type: v.picklist(['source-url', 'source-document']),
  sourceId: v.string(),
  url: v.optional(v.string()),
  mediaType: v.optional(v.string()),
  title: v.optional(v.string()),
  filename: v.optional(v.string()),
})

/** A file that the assistant has made. */
export const UiFileFrame = frame('file', { url: v.string(), mediaType: v.string() })

/** JSON of the application, by its name: `data-<name>`. */
export const UiDataFrame = v.object({
  type: v.pipe(v.string(), v.regex(/^data-/), v.metadata({ pattern: '^data-' })),
  id: v.optional(v.string()),
  data: v.unknown(),
})

/** A step begins or ends, or the answer was cancelled. */
export const UiBareFrame = v.object({ type: v.picklist(['start-step', 'finish-step', 'abort']) })

/** An answer has failed. */
export const UiErrorFrame = frame('error', { errorText: v.string() })

/** A frame of the AI SDK's UI message stream. */
export const UiFrame = v.union([
  UiStartFrame,
  UiTextFrame,
  UiToolInputFrame,
  UiToolOutputFrame,
  UiSourceFrame,
  UiFileFrame,
  UiDataFrame,
  UiBareFrame,
  UiErrorFrame,
  UiFinishFrame,
])
export type UiFrame = v.InferOutput<typeof UiFrame>
