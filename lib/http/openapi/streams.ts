import * as v from 'valibot'
import { type ConversationStreamEvent, EphemeralEvent, PersistedEvent, StreamEvent } from '../../chat/events/schema.ts'
import { ResponseEvent } from '../../openai-api/responses/schema-events.ts'
import { CompletionChunk } from '../../openai-api/schema.ts'
import { AgUiEvent } from '../../protocols/ag-ui/schema-events.ts'
import { UiFrame } from '../../protocols/ui-stream/schema-frames.ts'
import { reference } from './reference.ts'

const types = [PersistedEvent, EphemeralEvent, StreamEvent].flatMap(({ options }) =>
  options.map(({ entries }): ConversationStreamEvent['type'] => entries.type.literal),
)

/** An event of an event stream, after its lines are parsed (HTML, 9.2.6). */
export const ConversationServerSentEvent = v.object({
  event: v.picklist(types),
  id: v.optional(
    v.pipe(v.string(), v.description('The id to resume after; missing for ephemeral events, which are not replayed')),
  ),
  data: json('ConversationStreamEvent', 'The event as JSON'),
})

export const ChatCompletionChunkEvent = v.object({ data: json('ChatCompletionChunk', 'A piece of the answer as JSON') })

export const ChatCompletionEndEvent = v.object({ data: v.literal('[DONE]') })

/** A chunk of a streamed answer, or the end of the stream. */
export const ChatCompletionServerSentEvent = v.union([ChatCompletionChunkEvent, ChatCompletionEndEvent])

export const UiFrameEvent = v.object({ data: json('UiFrame', 'A frame of the answer as JSON') })

/** A frame of an answer in the AI SDK's UI message stream, or the end of the stream. */
export const UiServerSentEvent = v.union([UiFrameEvent, ChatCompletionEndEvent])

/** An event of AG-UI. */
export const AgUiServerSentEvent = v.object({ data: json('AgUiEvent', 'An event of a run as JSON') })

/** An event of a response of OpenAI. */
export const ResponseServerSentEvent = v.object({
  event: v.pipe(v.string(), v.description('The `type` of the event')),
  data: json('ResponseEvent', 'The event as JSON'),
})

/** The events of streams beside those of conversations, by the schemas of their data. */
export const SENT_EVENTS: ReadonlyMap<v.GenericSchema, v.GenericSchema> = new Map<v.GenericSchema, v.GenericSchema>([
  [CompletionChunk, ChatCompletionServerSentEvent],
  [UiFrame, UiServerSentEvent],
  [AgUiEvent, AgUiServerSentEvent],
  [ResponseEvent, ResponseServerSentEvent],
])

/** A text that contains a shape of this document as JSON, as OpenAPI 3.2 describes the data of an event. */
function json(name: string, description: string) {
  return v.pipe(
    v.string(),
    v.description(description),
    v.metadata({ contentMediaType: 'application/json', contentSchema: { $ref: reference(name) } }),
  )
}
