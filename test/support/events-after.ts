import type { ConversationStreamEvent } from '../../lib/client/index.ts'
import type { Person } from './service.ts'

/** The events of a conversation after a position, up to now. */
export async function listEventsAfter(
  reader: Person,
  conversation_id: string,
  last_event_id: string,
): Promise<ConversationStreamEvent[]> {
  const { stream_position: end } = await reader.conversations.get(conversation_id)
  const events: ConversationStreamEvent[] = []
  if (end === last_event_id) return events
  for await (const { id, event } of reader.events.follow(conversation_id, { last_event_id })) {
    if (!event.type.startsWith('stream.')) events.push(event)
    if (id === end) break
  }
  return events
}
