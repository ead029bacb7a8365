import type { Pin } from '../../api/pins.ts'
import { partOf, type StoreBase } from './base.ts'
import type { ChatStore, ReadableList } from './index.ts'
import { type ListData, listPlan } from './list.ts'
import type { Loading, Plan } from './resource.ts'
import type { StoreClient } from './types.ts'

/** The pinned messages of a conversation, latest first. */
export interface PinsView extends Loading {
  pins: readonly Pin[]
  /** Whether `loadMore` finds more. */
  has_more: boolean
}

/** The pinned messages of conversations. */
export interface StorePins {
  list(conversation_id: string): ReadableList<PinsView>
}

/** The pins of a store: the same at each call. `store.pin` and `unpin` change them. */
export function pinsOf(store: ChatStore): StorePins {
  return partOf(store, createPins)
}

function createPins({ client, resources }: StoreBase): StorePins {
  return { list: resources((conversation_id) => pinsPlan(client, conversation_id)).get }
}

/** The pinned messages of a conversation: read again when a pin changes, or a message that may be pinned. */
function pinsPlan(client: StoreClient, conversation_id: string): Plan<ListData<Pin>, PinsView> {
  return listPlan({
    name: 'pins',
    keyOf: ({ message }) => message.id,
    read: (query) => client.pins.list(conversation_id, query),
    fold(data, event) {
      const isKnown = (id: string) => data.items.some(({ message }) => message.id === id)
      const isQuoted = (id: string) => data.items.some(({ message }) => message.quote?.message_id === id)
      switch (event.type) {
        case 'pin.changed':
        case 'membership.changed':
          return event.payload.conversation_id === conversation_id ? 'stale' : data
        case 'message.restored':
          return event.payload.message.conversation_id === conversation_id ? 'stale' : data
        case 'message.edited':
        case 'message.deleted':
          return isKnown(event.payload.message.id) || isQuoted(event.payload.message.id) ? 'stale' : data
        case 'reactions.changed':
        case 'message.done':
          return isKnown(event.payload.message_id) ? 'stale' : data
        default:
          return data
      }
    },
  })
}
