import type { Conversation, ServiceCan } from '../../api/client-entities.ts'
import type { ConversationStreamEvent } from '../types.ts'
import { partOf, type StoreBase } from './base.ts'
import type { ChatStore, Reloadable } from './index.ts'
import type { Loading } from './resource.ts'

/** What the user may do in a conversation, once it is read. */
export interface ConversationCanView extends Loading {
  can?: Conversation['can']
  /**
   * The conversation as it was read then, also one that the user reads without participating, which is in no list. Read again with
   * rights, its own fields and, of such a one, its participants; what is unread in it is in the lists.
   */
  conversation?: Conversation
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

/** A conversation, or the user with what the service allows. */
type Data = Partial<Pick<Conversation, 'joined' | 'with'>> & { can?: Conversation['can'] | ServiceCan }

function createCan({ client, feed, resources }: StoreBase): StoreCan {
  const { get } = resources<Data, Loading>((id) => ({
    initial: {},
    isEphemeral: true,
    read: () => (id ? client.conversations.get(id) : client.auth.me()),
    fold: (data, event) => (isCause(event, id, data, feed.userId()) ? 'stale' : data),
    visits: ({ joined }) => (joined === false ? id : undefined),
    view: (data, loading) => ({ ...loading, ...(data.can && { can: data.can, ...(id && { conversation: data }) }) }),
  }))
  return { conversation: get, service: get('') }
}

/**
 * Whether an event is about other rights: joining, roles, a policy, or the account of the other person, where that ends, less
 * can be done; or about who is in a room that the user only reads.
 */
function isCause(
  { type, payload }: ConversationStreamEvent,
  id: string,
  { joined, with: partner }: Data,
  user_id: string,
): boolean {
  if (type === 'rights.changed') return (payload.conversation_id ?? id) === id
  if (type === 'conversation.updated') return payload.conversation.id === id
  if (type === 'membership.changed')
    return payload.conversation_id === id && (payload.user_id === user_id || joined === false)
  return type === 'user.updated' && payload.user.id === partner?.user_id
}
