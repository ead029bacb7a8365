import type { Message, Quote } from '../../api/messages.ts'
import { MAX_QUOTE_LENGTH, toExcerpt } from '../../core/excerpt.ts'
import type { ConversationStreamEvent } from '../types.ts'

/** The quote of a message, as the service composes it. */
export function toQuote(message: Message): Quote {
  const { id, root_id, role, author_user_id, author_kind, content, prompt, attachments, deleted_at } = message
  return {
    message_id: id,
    root_id,
    ...(role !== 'user' && { role }),
    ...(author_user_id && { author_user_id }),
    ...(author_kind && { author_kind }),
    ...(deleted_at
      ? { excerpt: '', deleted: true }
      : { excerpt: toExcerpt(prompt ?? content, attachments, MAX_QUOTE_LENGTH) }),
  }
}

/** The message that an event of an edit, a deletion or a restoration has: its quotes change with it. */
export function changedMessage({ type, payload }: ConversationStreamEvent): Message | undefined {
  return type === 'message.edited' || type === 'message.deleted' || type === 'message.restored'
    ? payload.message
    : undefined
}

/** The messages with their quotes of a changed message; the same list if none quotes it. */
export function withQuotesOf<Each extends Message>(messages: readonly Each[], changed: Message): readonly Each[] {
  const quotes = ({ quote }: Message) => quote?.message_id === changed.id
  if (!messages.some(quotes)) return messages
  const quote = toQuote(changed)
  return messages.map((message) => (quotes(message) ? { ...message, quote } : message))
}
