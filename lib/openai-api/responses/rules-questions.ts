import type { Message } from '../../chat/messages/schema.ts'
import { QUESTION, toOpenAiId } from './rules-ids.ts'
import type { ItemMessage } from './schema.ts'

/** What a person has asked, as an item: the question of an answer, or a message. */
export function questionItem({ id, role, prompt, content }: Message): ItemMessage {
  const isAnswer = role === 'assistant'
  return {
    id: toOpenAiId('message', id, isAnswer ? QUESTION : 0),
    type: 'message',
    role: 'user',
    status: 'completed',
    content: [{ type: 'input_text', text: isAnswer ? (prompt ?? '') : content }],
  }
}
