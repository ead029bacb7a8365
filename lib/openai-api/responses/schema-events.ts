import * as v from 'valibot'
import { Annotation, OutputItem, OutputText, ReasoningText, ResponseObject } from './schema.ts'

const Index = v.pipe(v.number(), v.integer(), v.minValue(0))

const NUMBER = {
  sequence_number: v.pipe(Index, v.description('0, 1, 2, …: equal in every stream of the response')),
}
const ITEM = { ...NUMBER, output_index: Index }
const PLACE = { ...ITEM, item_id: v.string() }
const CONTENT = { ...PLACE, content_index: v.literal(0) }

export const ResponsePart = v.variant('type', [OutputText, ReasoningText])

export const ResponseProgressEvent = v.object({
  ...NUMBER,
  type: v.picklist([
    'response.created',
    'response.in_progress',
    'response.completed',
    'response.incomplete',
    'response.failed',
  ]),
  response: ResponseObject,
})

export const ResponseItemEvent = v.object({
  ...ITEM,
  type: v.picklist(['response.output_item.added', 'response.output_item.done']),
  item: OutputItem,
})

export const ResponsePartEvent = v.object({
  ...CONTENT,
  type: v.picklist(['response.content_part.added', 'response.content_part.done']),
  part: ResponsePart,
})

const Logprobs = v.pipe(v.array(v.never()), v.description('Always empty'))

export const ResponseTextDeltaEvent = v.object({
  ...CONTENT,
  type: v.literal('response.output_text.delta'),
  delta: v.string(),
  logprobs: Logprobs,
})

export const ResponseTextDoneEvent = v.object({
  ...CONTENT,
  type: v.literal('response.output_text.done'),
  text: v.string(),
  logprobs: Logprobs,
})

export const ResponseAnnotationEvent = v.object({
  ...CONTENT,
  type: v.literal('response.output_text.annotation.added'),
  annotation_index: Index,
  annotation: Annotation,
})

export const ResponseReasoningDeltaEvent = v.object({
  ...CONTENT,
  type: v.literal('response.reasoning_text.delta'),
  delta: v.string(),
})

export const ResponseReasoningDoneEvent = v.object({
  ...CONTENT,
  type: v.literal('response.reasoning_text.done'),
  text: v.string(),
})

export const ResponseArgumentsEvent = v.object({
  ...PLACE,
  type: v.literal('response.mcp_call_arguments.done'),
  arguments: v.string(),
})

export const ResponseCallEvent = v.object({
  ...PLACE,
  type: v.picklist(['response.mcp_call.in_progress', 'response.mcp_call.completed', 'response.mcp_call.failed']),
})

/** An event of a streamed response. */
export const ResponseEvent = v.union([
  ResponseProgressEvent,
  ResponseItemEvent,
  ResponsePartEvent,
  ResponseTextDeltaEvent,
  ResponseTextDoneEvent,
  ResponseAnnotationEvent,
  ResponseReasoningDeltaEvent,
  ResponseReasoningDoneEvent,
  ResponseArgumentsEvent,
  ResponseCallEvent,
])
export type ResponseEvent = v.InferOutput<typeof ResponseEvent>
