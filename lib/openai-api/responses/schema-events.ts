import * as v from 'valibot'
import { OutputItem, OutputText, ReasoningText, ResponseObject, UrlCitation } from './schema.ts'

const Index = v.pipe(v.number(), v.integer(), v.minValue(0))

const NUMBER = {
  sequence_number: v.pipe(Index, v.description('0, 1, 2, …: equal in every stream of the response')),
}
const ITEM = { ...NUMBER, output_index: Index }
const PLACE = { ...ITEM, item_id: v.string() }
const CONTENT = { ...PLACE, content_index: v.literal(0) }

export const ResponsePart = v.variant('type', [OutputText, ReasoningText])

const progress = <const Type extends string>(type: Type) =>
  v.object({ ...NUMBER, type: v.literal(type), response: ResponseObject })
const ofItem = <const Type extends string>(type: Type) => v.object({ ...ITEM, type: v.literal(type), item: OutputItem })
const ofPart = <const Type extends string>(type: Type) =>
  v.object({ ...CONTENT, type: v.literal(type), part: ResponsePart })
const ofCall = <const Type extends string>(type: Type) => v.object({ ...PLACE, type: v.literal(type) })
const Logprobs = v.pipe(v.array(v.unknown()), v.description('Always empty'))

export const ResponseCreatedEvent = progress('response.created')
export const ResponseInProgressEvent = progress('response.in_progress')
export const ResponseCompletedEvent = progress('response.completed')
export const ResponseIncompleteEvent = progress('response.incomplete')
export const ResponseFailedEvent = progress('response.failed')
export const ResponseItemAddedEvent = ofItem('response.output_item.added')
export const ResponseItemDoneEvent = ofItem('response.output_item.done')
export const ResponsePartAddedEvent = ofPart('response.content_part.added')
export const ResponsePartDoneEvent = ofPart('response.content_part.done')
export const ResponseCallInProgressEvent = ofCall('response.mcp_call.in_progress')
export const ResponseCallCompletedEvent = ofCall('response.mcp_call.completed')
export const ResponseCallFailedEvent = ofCall('response.mcp_call.failed')

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
  annotation: UrlCitation,
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

/** An event of a streamed response. */
export const ResponseEvent = v.variant('type', [
  ResponseCreatedEvent,
  ResponseInProgressEvent,
  ResponseCompletedEvent,
  ResponseIncompleteEvent,
  ResponseFailedEvent,
  ResponseItemAddedEvent,
  ResponseItemDoneEvent,
  ResponsePartAddedEvent,
  ResponsePartDoneEvent,
  ResponseTextDeltaEvent,
  ResponseTextDoneEvent,
  ResponseAnnotationEvent,
  ResponseReasoningDeltaEvent,
  ResponseReasoningDoneEvent,
  ResponseArgumentsEvent,
  ResponseCallInProgressEvent,
  ResponseCallCompletedEvent,
  ResponseCallFailedEvent,
])
export type ResponseEvent = v.InferOutput<typeof ResponseEvent>
