import type { Conversation, ServiceCan } from '../../api/client-entities.ts'
import type { ConversationStreamEvent } from '../types.ts'
import { partOf, type StoreBase } from './base.ts'
import type { ChatStore, Reloadable } from './index.ts'
import type { Loading } from './resource.ts'

/** What the user may do in a conversation, once it is read. */
export interface ConversationCanView extends Loading {
  can?: Conversation['can']
}

/** What the user may do in the service, once it is read. */
export interface ServiceCanView extends Loading {
  can?: ServiceCan
}

/** What the user may do, in a conversation or in the service: read again when a role or a policy changes. */
export interface StoreCan {
  conversation(conversation_id: string): Reloadable<ConversationCanView>
  service: Reloadable<ServiceCanView>
}

/** What the user of a store may do: the same at each call. */
export function canOf(store: ChatStore): StoreCan {
  return partOf(store, createCan)
}

interface Data {
  can?: Conversation['can'] | ServiceCan
  /** The other person of a direct conversation: where that account ends, less can be done. */
  partner?: string | undefined
}

function createCan({ client, feed, resources }: StoreBase): StoreCan {
  const { get } = resources<Data, Loading>((id) => ({
    initial: {},
    isEphemeral: true,
    async read() {
      if (!id) return { can: (await client.auth.me()).can }
      const { can, with: partner } = await client.conversations.get(id)
      return { can, partner: partner?.user_id }
    },
    fold: (data, event) => (isCause(event, id, data, feed.userId()) ? 'stale' : data),
    view: ({ can }, loading) => ({ ...loading, ...(can && { can }) }),
  }))
  return { conversation: get, service: get('') }
}

/** Whether an event is about other rights: joining, roles, a policy, or the account of the other person. */
function isCause({ type, payload }: ConversationStreamEvent, id: string, { partner }: Data, user_id: string): boolean {
  if (type === 'rights.changed') return (payload.conversation_id ?? id) === id
  if (type === 'conversation.updated') return payload.conversation.id === id
  if (type === 'membership.changed') return payload.conversation_id === id && payload.user_id === user_id
  return type === 'user.updated' && payload.user.id === partner
}
