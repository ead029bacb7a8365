import type { AnswerPiece, AssistantRequest, TextPiece } from '../../lib/assistant/provider.ts'
import { ChatError } from '../../lib/core/errors.ts'

/** The input of an assistant for a thread that begins with `prompt`. */
export function asking(prompt: string, signal = new AbortController().signal): AssistantRequest {
  const [message_id, conversation_id, requested_by] = ['message', 'conversation', 'ada']
  const turns = [{ role: 'user' as const, content: prompt, user_id: requested_by }]
  const place = { message_id, conversation_id, root_id: message_id }
  const conversation = { id: conversation_id, title: 'Colours' }
  const step = { step: 1, so_far: [], tools: [] }
  const asked = { requested_by, assistant: 'assistant', purpose: 'answer' as const, conversation, metadata: {} }
  return { ...place, ...asked, ...step, turns, open: () => missing(), signal }
}

// biome-ignore lint/correctness/useYield: these threads have no files.
async function* missing(): AsyncGenerator<Uint8Array> {
  throw new ChatError('not_found')
}

/** A whole answer: its texts, and the last metadata. */
export async function collect(answer: AsyncIterable<AnswerPiece>) {
  const pieces: string[] = []
  const rest: TextPiece = {}
  for await (const piece of answer) {
    const { delta, ...known } = typeof piece === 'string' ? { delta: piece } : (piece as TextPiece)
    if (delta !== undefined) pieces.push(delta)
    Object.assign(rest, known)
  }
  return { pieces, ...rest }
}
