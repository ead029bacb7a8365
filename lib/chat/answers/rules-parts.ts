import type { MessagePart } from './schema.ts'
import type { Part, PartChange } from './schema-parts.ts'

/** The changes with which calls end whose provider has ended the answer without their results. */
export function endsOfOpenCalls(parts: readonly Part[]): PartChange[] {
  return parts.flatMap((part) =>
    part.type === 'tool' && part.by_provider && part.state === 'running'
      ? { id: part.id, type: part.type, state: 'unknown' as const }
      : [],
  )
}

/** Where a row is, for its event. */
export interface PartPlace {
  message_id: string
  root_id: string
  conversation_id: string
  idx: number
}

/** The event of a row that is no text. @param isGone whether the message is deleted or erased */
export function toPartEvent(
  { message_id, root_id, conversation_id, idx }: PartPlace,
  part: PartChange,
  isGone = false,
): MessagePart {
  const { id, type } = part
  return { message_id, root_id, conversation_id, idx, part: isGone ? { id, type } : part }
}
