import type { MessageDelta } from './schema.ts'

/** The place of a chunk: its message, and the place of that. */
export interface ChunkPlace {
  message_id: string
  idx: number
  conversation_id: string
  root_id: string
  parent_id: string | null
  depth: number
}

/** A chunk as it is sent to readers. */
export function toDelta({ message_id, idx, parent_id, ...place }: ChunkPlace, content: string): MessageDelta {
  return {
    id: `${message_id}:${idx}`,
    object: 'chat.completion.chunk',
    root_id: place.root_id,
    message_id,
    conversation_id: place.conversation_id,
    ...(parent_id && { parent_id }),
    depth: place.depth,
    choices: [{ index: 0, delta: { ...(idx === 0 && { role: 'assistant' }), content } }],
  }
}
