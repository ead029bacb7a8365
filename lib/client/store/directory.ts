import type { PublicRoom } from '../../api/client-entities.ts'
import { type ListData, listPlan } from './list.ts'
import type { Plan } from './resource.ts'
import type { DirectoryView, StoreClient } from './types.ts'

/** The rooms of the directory whose titles fit a query: read again when one of them, or what the user may see, changes. */
export function directoryPlan(client: StoreClient, query: string): Plan<ListData<PublicRoom>, DirectoryView> {
  return listPlan({
    name: 'conversations',
    keyOf: ({ id }) => id,
    // Rooms in which the user does not participate send no events: they are read again with the next stream.
    isEphemeral: true,
    read: (page) => client.conversations.directory({ ...page, query: query || undefined }),
    fold(data, { type, payload }) {
      const has = (id: string) => data.items.some((room) => room.id === id)
      const isCause =
        // A private one is in the directory only until it becomes private.
        (type === 'conversation.updated' &&
          (payload.conversation.visibility !== 'private' || has(payload.conversation.id))) ||
        type === 'rights.changed' ||
        (type === 'membership.changed' && has(payload.conversation_id))
      return isCause ? 'stale' : data
    },
  })
}
