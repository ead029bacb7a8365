import * as v from 'valibot'
import { Id, Instant } from '../../core/schema.ts'

const Whole = v.pipe(v.number(), v.integer(), v.minValue(0))

/** The states of a call of a tool: the first four precede its end. */
export const ToolState = v.picklist([
  'requested',
  'waiting',
  'approved',
  'running',
  'done',
  'failed',
  'denied',
  'expired',
  'unknown',
  'cancelled',
])
export type ToolState = v.InferOutput<typeof ToolState>

/** JSON that a model or a tool has written. */
export const PartValue = v.unknown()

/** Why a call of a tool has no result. */
export const ToolError = v.object({ code: v.string(), message: v.string() })
export type ToolError = v.InferOutput<typeof ToolError>

/** Which participants decide on a call of a tool, and until when. */
export const ToolApproval = v.object({
  by: v.picklist(['asker', 'admins', 'members']),
  quorum: v.pipe(v.number(), v.integer(), v.minValue(1)),
  expires_at: Instant,
})
export type ToolApproval = v.InferOutput<typeof ToolApproval>

/** The place of a source in the text, in UTF-16 units. */
export const PartRange = v.pipe(
  v.array(Whole),
  v.minLength(2),
  v.maxLength(2),
  v.description('Where `content` refers to it: from, to, in UTF-16 units'),
)

const PartId = v.pipe(Whole, v.description('The `idx` of its first chunk'))
const Cut = v.optional(
  v.pipe(
    v.number(),
    v.integer(),
    v.minValue(1),
    v.description(
      'In lists and events of messages: the size in bytes of the values of more than 2 KiB, left out there',
    ),
  ),
)

/** Text of an answer. */
export const AnswerText = v.object({ id: PartId, type: v.literal('text'), text: v.string() })

/** What the model wrote before it answered. */
export const AnswerReasoning = v.object({
  id: PartId,
  type: v.literal('reasoning'),
  text: v.optional(v.string()),
  cut: Cut,
})

/** A call of a tool, with its result. */
export const AnswerTool = v.object({
  id: PartId,
  type: v.literal('tool'),
  call_id: Id,
  name: v.string(),
  title: v.optional(v.string()),
  step: v.pipe(v.number(), v.integer(), v.minValue(1)),
  state: ToolState,
  input: v.optional(PartValue),
  output: v.optional(PartValue),
  error: v.optional(ToolError),
  approval: v.optional(ToolApproval),
  by_provider: v.optional(
    v.pipe(v.literal(true), v.description('The provider of the assistant runs it: no participant approves the call')),
  ),
  cut: Cut,
})

/** What an answer refers to. */
export const AnswerSource = v.object({
  id: PartId,
  type: v.literal('source'),
  url: v.optional(v.string()),
  filename: v.optional(v.string()),
  media_type: v.optional(v.string()),
  title: v.optional(v.string()),
  range: v.optional(PartRange),
})

/** A file that the assistant has made: an attachment of the message. */
export const AnswerFile = v.object({
  id: PartId,
  type: v.literal('file'),
  attachment_id: Id,
  name: v.string(),
  media_type: v.string(),
  size: v.pipe(v.number(), v.integer(), v.minValue(1)),
})

/** JSON for a page of the host, by its name. */
export const AnswerData = v.object({
  id: PartId,
  type: v.literal('data'),
  name: v.string(),
  key: v.optional(v.string()),
  data: v.optional(PartValue),
  cut: Cut,
})

/** The begin of a later step: the model was asked again. */
export const AnswerStep = v.object({
  id: PartId,
  type: v.literal('step'),
  step: v.pipe(v.number(), v.integer(), v.minValue(2)),
})

/** A part of an answer. */
export const Part = v.variant('type', [
  AnswerText,
  AnswerReasoning,
  AnswerTool,
  AnswerSource,
  AnswerFile,
  AnswerData,
  AnswerStep,
])
export type Part = v.InferOutput<typeof Part>

/**
 * A chunk of an answer that is no text: fields of a part, which replace those the part has; `delta` is added to its `text`.
 * Of a deleted message it has `id` and `type` alone.
 */
export const PartChange = v.object({
  id: PartId,
  type: v.picklist(['reasoning', 'tool', 'source', 'file', 'data', 'step']),
  text: v.optional(v.string()),
  delta: v.optional(v.pipe(v.string(), v.description('Text to add to that of the part'))),
  call_id: v.optional(Id),
  name: v.optional(v.string()),
  title: v.optional(v.string()),
  step: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
  state: v.optional(ToolState),
  input: v.optional(PartValue),
  output: v.optional(PartValue),
  error: v.optional(ToolError),
  approval: v.optional(ToolApproval),
  by_provider: v.optional(v.literal(true)),
  url: v.optional(v.string()),
  filename: v.optional(v.string()),
  media_type: v.optional(v.string()),
  range: v.optional(PartRange),
  attachment_id: v.optional(Id),
  size: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
  key: v.optional(v.string()),
  data: v.optional(PartValue),
})
export type PartChange = v.InferOutput<typeof PartChange>
