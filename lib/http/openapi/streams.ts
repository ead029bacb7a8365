import * as v from 'valibot'
import { type ConversationStreamEvent, EphemeralEvent, PersistedEvent, StreamEvent } from '../../chat/events/schema.ts'
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

/** A text that contains a shape of this document as JSON, as OpenAPI 3.2 describes the data of an event. */
function json(name: string, description: string) {
  return v.pipe(
    v.string(),
    v.description(description),
    v.metadata({ contentMediaType: 'application/json', contentSchema: { $ref: reference(name) } }),
  )
}
