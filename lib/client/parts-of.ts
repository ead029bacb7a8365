import type { Part } from '../api/answers.ts'
import type { Message } from '../api/messages.ts'

/** The parts of a message, by `id`: one text where all of it is text, none of a message without text. */
export function partsOf(message: Pick<Message, 'content' | 'parts'>): readonly Part[] {
  if (typeof message?.content !== 'string') throw new TypeError('partsOf needs a message')
  const { content, parts } = message
  return parts ?? (content === '' ? [] : [{ id: 0, type: 'text', text: content }])
}
