import * as v from 'valibot'
import { MessageStatus } from '../../chat/answers/schema.ts'
import { FAILURES, type FailureCode } from '../../chat/answers/schema-failures.ts'
import { ToolApproval, ToolState } from '../../chat/answers/schema-parts.ts'
import { Id, Instant } from '../../core/schema.ts'
import { AgUiMessage } from './schema-messages.ts'

const event = <T extends string, E extends v.ObjectEntries>(type: T, entries: E) =>
  v.object({ type: v.literal(type), ...entries })

const Count = v.optional(v.pipe(v.number(), v.integer(), v.minValue(0)))

/** The answer of a run. */
export const AgUiRunFacts = v.object({
  message_id: Id,
  root_id: Id,
  conversation_id: Id,
  variant_of: v.optional(Id),
})

export const AgUiRunMetadata = v.object({ 'chat-server': AgUiRunFacts })

/** A run begins. */
export const AgUiRunStarted = event('RUN_STARTED', {
  threadId: v.string(),
  runId: v.string(),
  protocolVersion: v.literal('1.0'),
  metadata: v.optional(AgUiRunMetadata),
})

/** The begin, a piece, or the end of a text. */
export const AgUiTextEvent = v.object({
  type: v.picklist(['TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_END']),
  messageId: v.string(),
  role: v.optional(v.literal('assistant')),
  delta: v.optional(v.string()),
})

/** The begin, a piece, or the end of what the model wrote before it answered. */
export const AgUiReasoningEvent = v.object({
  type: v.picklist([
    'REASONING_START',
    'REASONING_MESSAGE_START',
    'REASONING_MESSAGE_CONTENT',
    'REASONING_MESSAGE_END',
    'REASONING_END',
  ]),
  messageId: v.string(),
  role: v.optional(v.literal('reasoning')),
  delta: v.optional(v.string()),
})

/** A call of a tool: its name, its input as JSON, its end. */
export const AgUiToolEvent = v.object({
  type: v.picklist(['TOOL_CALL_START', 'TOOL_CALL_ARGS', 'TOOL_CALL_END']),
  toolCallId: Id,
  toolCallName: v.optional(v.string()),
  delta: v.optional(v.string()),
})

/** How a call of a tool has ended. */
export const AgUiResultFacts = v.object({ message_id: Id, state: ToolState })

export const AgUiResultMetadata = v.object({ 'chat-server': AgUiResultFacts })

/** What a tool has returned, or why it has returned nothing. */
export const AgUiToolResult = event('TOOL_CALL_RESULT', {
  messageId: v.string(),
  toolCallId: Id,
  role: v.literal('tool'),
  content: v.string(),
  metadata: AgUiResultMetadata,
})

/** A part of an answer that is no message. */
export const AgUiCustomFacts = v.object({
  type: v.picklist(['source', 'file', 'data']),
  key: v.optional(v.pipe(v.string(), v.description('Of data: what has the same name and key replaces it'))),
})

export const AgUiCustomMetadata = v.object({ 'chat-server': AgUiCustomFacts })

/** A source, a file, or data of the application. */
export const AgUiCustomEvent = event('CUSTOM', {
  name: v.pipe(v.string(), v.description('`source`, `file`, or the name of the data')),
  value: v.unknown(),
  metadata: AgUiCustomMetadata,
})

/** A later step of the model begins or ends: the first one has none. */
export const AgUiStepEvent = v.object({ type: v.picklist(['STEP_STARTED', 'STEP_FINISHED']), stepName: v.string() })

export const AgUiSnapshotFacts = v.object({
  has_earlier: v.pipe(v.literal(true), v.description('Whether earlier messages are left out')),
})

export const AgUiSnapshotMetadata = v.object({ 'chat-server': AgUiSnapshotFacts })

/** The messages of the chat. */
export const AgUiSnapshot = event('MESSAGES_SNAPSHOT', {
  messages: v.array(AgUiMessage),
  metadata: v.optional(AgUiSnapshotMetadata),
})

/** What an answer to an interrupt is: JSON Schema. */
export const AgUiResponseSchema = v.object({
  type: v.literal('object'),
  properties: v.unknown(),
  required: v.array(v.string()),
})

/** Which participants decide. */
export const AgUiInterruptFacts = v.object({ by: ToolApproval.entries.by, quorum: ToolApproval.entries.quorum })

export const AgUiInterruptMetadata = v.object({ 'chat-server': AgUiInterruptFacts })

/** A call of a tool that waits for participants. */
export const AgUiInterrupt = v.object({
  id: Id,
  reason: v.literal('tool_call'),
  message: v.string(),
  toolCallId: Id,
  responseSchema: AgUiResponseSchema,
  expiresAt: v.optional(Instant),
  metadata: v.optional(AgUiInterruptMetadata),
})
export type AgUiInterrupt = v.InferOutput<typeof AgUiInterrupt>

/** How a run has ended. Clients of 0.x get only that of an interrupt. */
export const AgUiOutcome = v.object({
  type: v.picklist(['success', 'interrupt', 'cancelled']),
  interrupts: v.optional(v.array(AgUiInterrupt)),
})

/** The tokens of an answer. */
export const AgUiUsage = v.object({
  inputTokens: Count,
  outputTokens: Count,
  totalTokens: Count,
  cachedInputTokens: Count,
  reasoningTokens: Count,
})

export const AgUiEndFacts = v.object({ status: MessageStatus, finish_reason: v.optional(v.string()) })

export const AgUiEndMetadata = v.object({ 'chat-server': AgUiEndFacts })

/** A run has ended, or waits for participants. */
export const AgUiRunFinished = event('RUN_FINISHED', {
  threadId: v.string(),
  runId: v.string(),
  outcome: v.optional(AgUiOutcome),
  usage: v.optional(v.array(AgUiUsage)),
  metadata: v.optional(AgUiEndMetadata),
})

/** A run has failed. */
export const AgUiRunError = event('RUN_ERROR', {
  message: v.string(),
  code: v.picklist([...(Object.keys(FAILURES) as FailureCode[]), 'interrupted', 'conflict']),
  usage: v.optional(v.array(AgUiUsage)),
})

/** An event of AG-UI. */
export const AgUiEvent = v.union([
  AgUiRunStarted,
  AgUiTextEvent,
  AgUiReasoningEvent,
  AgUiToolEvent,
  AgUiToolResult,
  AgUiCustomEvent,
  AgUiStepEvent,
  AgUiSnapshot,
  AgUiRunFinished,
  AgUiRunError,
])
export type AgUiEvent = v.InferOutput<typeof AgUiEvent>
