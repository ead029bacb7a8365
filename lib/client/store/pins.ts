import type { Pin } from '../../api/pins.ts'
import type { ListData } from './lists.ts'
import { readList } from './lists.ts'
import type { Plan } from './resource.ts'
import type { PinsView, StoreClient } from './types.ts'

/** The pinned messages of a conversation: read again when a pin changes, or a message that may be pinned. */
export function pinsPlan(client: StoreClient, conversation_id: string): Plan<ListData<Pin>, PinsView> {
  return {
    initial: { items: [] },
    read: (known, isMore) =>
      readList(
        known,
        isMore,
        ({ message }) => message.id,
        async (after) => {
          const { pins, next_after } = await client.pins.list(conversation_id, after)
          return { items: pins, next_after }
        },
      ),
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
    view: ({ items, next_after }, loading) => ({ ...loading, pins: items, has_more: next_after !== undefined }),
  }
}
