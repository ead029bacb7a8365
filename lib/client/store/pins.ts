import type { Pin } from '../../api/pins.ts'
import { type ListData, listPlan } from './list.ts'
import type { Plan } from './resource.ts'
import type { PinsView, StoreClient } from './types.ts'

/** The pinned messages of a conversation: read again when a pin changes, or a message that may be pinned. */
export function pinsPlan(client: StoreClient, conversation_id: string): Plan<ListData<Pin>, PinsView> {
  return listPlan({
    name: 'pins',
    keyOf: ({ message }) => message.id,
    read: (query) => client.pins.list(conversation_id, query),
    fold(data, event) {
      const isKnown = (id: string) => data.items.some(({ message }) => message.id === id)
      switch (event.type) {
        case 'pin.changed':
        case 'membership.changed':
          return event.payload.conversation_id === conversation_id ? 'stale' : data
        case 'message.restored':
          return event.payload.message.conversation_id === conversation_id ? 'stale' : data
        case 'message.edited':
        case 'message.deleted':
          return isKnown(event.payload.message.id) ? 'stale' : data
        case 'reactions.changed':
        case 'message.done':
          return isKnown(event.payload.message_id) ? 'stale' : data
        default:
          return data
      }
    },
  })
}
