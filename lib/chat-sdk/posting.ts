import type { AdapterPostableMessage, RawMessage, StreamChunk } from 'chat'
import type { Message as ApiMessage } from '../api/client-entities.ts'
import { streamMessage } from '../client/stream-message.ts'
import type { ChatClient } from '../client/types.ts'
import type { Directory } from './directory.ts'
import type { Invocations } from './invocations.ts'
import type { ChatServerThreadId } from './thread-ids.ts'
import { toText, uploadFiles } from './to-post.ts'

interface PostingDeps {
  client: ChatClient
  directory: Directory
  invocations: Invocations
  /** A message of the service as the SDK gets it after a call. */
  sent(raw: ApiMessage): Promise<RawMessage<ApiMessage>>
}

/** Writes what the handlers of the SDK say. */
export function createPosting({ client, directory, invocations, sent }: PostingDeps) {
  return {
    /** @param parent_id the message that it replies to: the root of the thread, unless it is another one */
    async post(place: ChatServerThreadId, message: AdapterPostableMessage, parent_id?: string) {
      const { conversation_id } = place
      const { root_id, ...call } = invocations.placeOf(place)
      const content = await toText(directory, message)
      const attachment_ids = await uploadFiles(client, conversation_id, message)
      // In a conversation of assistants, the text would be a question to one.
      const input = { role: 'user' as const, content, ...call, ...(attachment_ids.length > 0 && { attachment_ids }) }
      const parent = parent_id ?? root_id
      const posted = await (parent === undefined
        ? client.messages.postRoot(conversation_id, input)
        : client.messages.reply(parent, input))
      return sent(posted.message)
    },

    /** Posts a message for one user. */
    async show(place: ChatServerThreadId, user_id: string, message: AdapterPostableMessage) {
      const content = await toText(directory, message)
      const input = { user_id, content, ...invocations.placeOf(place) }
      return (await client.notices.create(place.conversation_id, input)).notice
    },

    async edit({ conversation_id }: ChatServerThreadId, message_id: string, message: AdapterPostableMessage) {
      const content = await toText(directory, message)
      const attachment_ids = await uploadFiles(client, conversation_id, message)
      await client.messages.edit(message_id, { content, ...(attachment_ids.length > 0 && { attachment_ids }) })
      return sent(await client.messages.get(message_id))
    },

    /** @param stop called when a participant stops the message: the handler then stops its model */
    async stream(place: ChatServerThreadId, chunks: AsyncIterable<string | StreamChunk>, stop: () => void) {
      const { root_id: parent_id, ...call } = invocations.placeOf(place)
      const reply = { ...call, ...(parent_id !== undefined && { parent_id }) }
      const stream = await streamMessage(client, place.conversation_id, reply)
      stream.signal.addEventListener('abort', stop)
      try {
        for await (const chunk of chunks) {
          if (stream.signal.aborted) break
          if (typeof chunk === 'string') await stream.write(chunk)
          else if (chunk.type === 'markdown_text') await stream.write(chunk.text)
        }
      } catch (error) {
        await stream.fail().catch(() => {})
        throw error
      } finally {
        stream.signal.removeEventListener('abort', stop)
      }
      return sent(await stream.end())
    },
  }
}
