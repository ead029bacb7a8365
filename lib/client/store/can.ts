import type { Conversation, ServiceCan } from '../../api/client-entities.ts'
import type { ConversationStreamEvent } from '../types.ts'
import { partOf, type StoreBase } from './base.ts'
import type { ChatStore, Reloadable } from './index.ts'
import type { Loading } from './resource.ts'
import { subjectOf } from './threads.ts'

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

/** What changes it: roles, policies, and in a direct conversation the account of the other person. */
const CAUSES = ['rights.changed', 'conversation.updated', 'user.updated']

function createCan({ client, resources }: StoreBase): StoreCan {
  const { get } = resources<object, Loading>((id) => ({
    initial: {},
    isEphemeral: true,
    read: async () => ({ can: (await (id ? client.conversations.get(id) : client.auth.me())).can }),
    fold: (data, event) => (CAUSES.includes(event.type) && (aboutOf(event) ?? id) === id ? 'stale' : data),
    view: (data, loading) => ({ ...loading, ...data }),
  }))
  return { conversation: get, service: get('') }
}

const aboutOf = (event: ConversationStreamEvent) =>
  event.type === 'conversation.updated' ? event.payload.conversation.id : subjectOf(event, 'conversation_id')
