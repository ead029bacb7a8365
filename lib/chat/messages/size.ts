import { jsonBytes } from '../../core/pages.ts'
import type { Message } from './schema.ts'
import { sizeOfReactions } from './store-reactions.ts'

/** The maximum size of a message in a response, in bytes: its texts as JSON, and all other fields. */
export function sizeOfMessage(message: Message): number {
  const { content, prompt = '', delete_reason = '', path, quote, feedback, parts } = message
  const texts = jsonBytes(content) + jsonBytes(prompt) + jsonBytes(delete_reason)
  return (
    texts +
    path.length +
    1500 +
    sizeOfReactions(message) +
    (parts ? Buffer.byteLength(JSON.stringify(parts)) : 0) +
    (quote ? jsonBytes(quote.excerpt) + 250 : 0) +
    (feedback?.reason ? jsonBytes(feedback.reason) : 0)
  )
}
