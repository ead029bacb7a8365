import * as v from 'valibot'
import { MessageStatus } from '../../chat/answers/schema.ts'
import { ToolState } from '../../chat/answers/schema-parts.ts'
import { Id, Instant } from '../../core/schema.ts'

/** A source, a file or data of an answer. */
export const AgUiCustom = v.object({ name: v.string(), value: v.unknown() })
export type AgUiCustom = v.InferOutput<typeof AgUiCustom>

/** What is known of a message here. */
export const AgUiMessageFacts = v.object({
  message_id: Id,
  created_at: v.optional(Instant),
  author_user_id: v.optional(Id),
  assistant: v.optional(v.string()),
  generated: v.optional(v.literal(true)),
  status: v.optional(MessageStatus),
  state: v.optional(v.pipe(ToolState, v.description('How a call of a tool has ended'))),
  custom: v.optional(
    v.pipe(v.array(AgUiCustom), v.description('The sources, files and data of an answer, as `CUSTOM` has them')),
  ),
  cut: v.optional(
    v.pipe(v.number(), v.description('The size in bytes of the values of more than 2 KiB, which are left out')),
  ),
})

export const AgUiMessageMetadata = v.object({ 'chat-server': AgUiMessageFacts })

/** The address of a file. */
export const AgUiUrlSource = v.object({ type: v.literal('url'), value: v.string(), mimeType: v.string() })

/** A part of a message of a user. */
export const AgUiPart = v.object({
  type: v.picklist(['text', 'image', 'audio', 'video', 'document']),
  text: v.optional(v.string()),
  source: v.optional(AgUiUrlSource),
})
export type AgUiPart = v.InferOutput<typeof AgUiPart>

/** The name of a tool, and its input as JSON. */
export const AgUiFunction = v.object({ name: v.string(), arguments: v.string() })

/** A call of a tool. */
export const AgUiToolCall = v.object({ id: Id, type: v.literal('function'), function: AgUiFunction })

export const AgUiSaid = v.string()
export const AgUiSaidParts = v.array(AgUiPart)

/** A message as AG-UI has it: an answer is one for each of its texts, calls and results. */
export const AgUiMessage = v.object({
  id: v.string(),
  role: v.picklist(['user', 'assistant', 'tool', 'reasoning']),
  content: v.optional(v.union([AgUiSaid, AgUiSaidParts])),
  toolCalls: v.optional(v.array(AgUiToolCall)),
  toolCallId: v.optional(Id),
  error: v.optional(v.string()),
  metadata: v.optional(AgUiMessageMetadata),
})
export type AgUiMessage = v.InferOutput<typeof AgUiMessage>
