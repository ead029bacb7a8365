import * as v from 'valibot'
import { Metadata } from '../../chat/conversations/schema-metadata.ts'

const Count = v.pipe(v.number(), v.integer(), v.minValue(0))
const Seconds = v.pipe(Count, v.description('Seconds since 1970'))
const Index = Count

/** What a text refers to, by the places of its characters in UTF-16 units. */
export const UrlCitation = v.object({
  type: v.literal('url_citation'),
  url: v.string(),
  title: v.string(),
  start_index: Index,
  end_index: Index,
})
export type UrlCitation = v.InferOutput<typeof UrlCitation>

/** Text of an answer. */
export const OutputText = v.object({
  type: v.literal('output_text'),
  text: v.string(),
  annotations: v.array(UrlCitation),
  logprobs: v.pipe(v.array(v.unknown()), v.description('Always empty')),
})
export type OutputText = v.InferOutput<typeof OutputText>

const ItemStatus = v.picklist(['in_progress', 'completed', 'incomplete'])

/** A text of an answer, as an item. */
export const OutputMessage = v.object({
  id: v.string(),
  type: v.literal('message'),
  role: v.literal('assistant'),
  status: ItemStatus,
  content: v.array(OutputText),
})
export type MessageItem = v.InferOutput<typeof OutputMessage>

/** What a model wrote before it answered. */
export const ReasoningText = v.object({ type: v.literal('reasoning_text'), text: v.string() })
export type ReasoningText = v.InferOutput<typeof ReasoningText>

/** What a model wrote before it answered, as an item. */
export const OutputReasoning = v.object({
  id: v.string(),
  type: v.literal('reasoning'),
  summary: v.pipe(v.array(v.unknown()), v.description('Always empty')),
  content: v.array(ReasoningText),
  status: ItemStatus,
})
export type ReasoningItem = v.InferOutput<typeof OutputReasoning>

const Arguments = v.pipe(v.string(), v.description('JSON'))

/** A call of a tool, which the service runs. */
export const OutputCall = v.object({
  id: v.string(),
  type: v.literal('mcp_call'),
  server_label: v.string(),
  name: v.string(),
  arguments: Arguments,
  approval_request_id: v.nullable(v.string()),
  output: v.nullable(v.string()),
  error: v.nullable(v.string()),
  status: v.picklist(['in_progress', 'completed', 'failed']),
})
export type CallItem = v.InferOutput<typeof OutputCall>

/** A call of a tool that waits for participants. */
export const OutputApproval = v.object({
  id: v.string(),
  type: v.literal('mcp_approval_request'),
  server_label: v.string(),
  name: v.string(),
  arguments: Arguments,
})

/** An item of an answer. */
export const OutputItem = v.variant('type', [OutputMessage, OutputReasoning, OutputCall, OutputApproval])
export type OutputItem = v.InferOutput<typeof OutputItem>

/** Text of a person. */
export const InputText = v.object({ type: v.literal('input_text'), text: v.string() })

export const InputPart = v.variant('type', [InputText, OutputText])

/** A message of a person, a text of an answer, or what a program said, as an item of a conversation. */
export const ItemMessage = v.object({
  id: v.string(),
  type: v.literal('message'),
  role: v.picklist(['user', 'system', 'assistant']),
  status: ItemStatus,
  content: v.array(InputPart),
})
export type ItemMessage = v.InferOutput<typeof ItemMessage>

/** An item of a conversation. */
export const ConversationItem = v.variant('type', [ItemMessage, OutputReasoning, OutputCall, OutputApproval])
export type ConversationItem = v.InferOutput<typeof ConversationItem>

/** Items, as OpenAI lists them. */
export const ItemList = v.object({
  object: v.literal('list'),
  data: v.array(ConversationItem),
  first_id: v.nullable(v.string()),
  last_id: v.nullable(v.string()),
  has_more: v.boolean(),
})
export type ItemList = v.InferOutput<typeof ItemList>

export const CachedTokens = v.object({ cached_tokens: Count })
export const ReasoningTokens = v.object({ reasoning_tokens: Count })

/** The tokens of an answer. */
export const ResponseUsage = v.nullable(
  v.object({
    input_tokens: Count,
    input_tokens_details: CachedTokens,
    output_tokens: Count,
    output_tokens_details: ReasoningTokens,
    total_tokens: Count,
  }),
)
export type ResponseUsage = NonNullable<v.InferOutput<typeof ResponseUsage>>

/** Why an answer failed. */
export const ResponseFailure = v.nullable(v.object({ code: v.literal('server_error'), message: v.string() }))

export const IncompleteDetails = v.nullable(v.object({ reason: v.picklist(['max_output_tokens', 'content_filter']) }))

export const ConversationRef = v.nullable(v.object({ id: v.string() }))

export const TextFormat = v.object({ type: v.literal('text') })
export const TextSettings = v.object({ format: TextFormat })

export const ResponseStatus = v.picklist(['in_progress', 'completed', 'incomplete', 'cancelled', 'failed'])
export type ResponseStatus = v.InferOutput<typeof ResponseStatus>

/** An answer as a response of OpenAI: the part of it up to a call on which participants decide, or behind one. */
export const ResponseObject = v.object({
  id: v.string(),
  object: v.literal('response'),
  created_at: Seconds,
  status: ResponseStatus,
  background: v.pipe(
    v.literal(true),
    v.description('Each response goes on without its client, however it was asked for'),
  ),
  error: ResponseFailure,
  incomplete_details: IncompleteDetails,
  instructions: v.nullable(v.string()),
  max_output_tokens: v.nullable(Count),
  model: v.string(),
  output: v.array(OutputItem),
  parallel_tool_calls: v.boolean(),
  previous_response_id: v.nullable(v.string()),
  conversation: ConversationRef,
  metadata: Metadata,
  store: v.literal(true),
  temperature: v.nullable(v.number()),
  text: TextSettings,
  tool_choice: v.literal('auto'),
  tools: v.pipe(v.array(v.unknown()), v.description('Always empty: the tools are those of the service')),
  top_p: v.nullable(v.number()),
  truncation: v.literal('disabled'),
  usage: ResponseUsage,
})
export type ResponseObject = v.InferOutput<typeof ResponseObject>

export const DeletedResponseObject = v.object({
  id: v.string(),
  object: v.literal('response'),
  deleted: v.literal(true),
})
export type DeletedResponseObject = v.InferOutput<typeof DeletedResponseObject>
