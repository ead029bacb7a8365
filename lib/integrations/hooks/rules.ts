import { ChatError } from '../../core/errors.ts'
import { textOfSlack } from './rules-slack.ts'
import type { HookBody } from './schema.ts'

/** A message that a tool posts. */
export interface HookedMessage {
  content: string
  parent_id?: string
  metadata?: unknown
  /** Whether the body was one of Slack: its tools expect another answer. */
  is_slack: boolean
}

/** What a body says. @throws ChatError `validation_failed` for one without text */
export function toMessage(body: HookBody, maximum: number): HookedMessage {
  const { content, parent_id, metadata } = body
  if (content !== undefined && content !== null)
    return {
      content,
      ...(parent_id !== undefined && { parent_id }),
      ...(metadata !== undefined && { metadata }),
      is_slack: false,
    }
  const text = textOfSlack(body)
  if (text === '') throw new ChatError('validation_failed', { errors: [{ path: 'content', message: NO_TEXT }] })
  return { content: cut(text, maximum), is_slack: true }
}

const NO_TEXT = 'must be there, or text, blocks or attachments with a text'

/** A text of at most so many bytes of UTF-8, cut between characters. */
export function cut(text: string, bytes: number): string {
  if (text.length * 3 <= bytes) return text
  const encoded = new TextEncoder().encode(text)
  if (encoded.length <= bytes) return text
  let end = bytes
  // A byte that continues a character.
  while (end > 0 && (encoded[end]! & 0xc0) === 0x80) end--
  return new TextDecoder().decode(encoded.subarray(0, end))
}
