import { type ConversationCanView, canOf, type ServiceCanView } from '../store/parts.ts'
import type { Loading } from '../store/resource.ts'
import { useChatStore } from './context.ts'
import { useReloadable } from './lists.ts'

/** What the user may do in a conversation, or without one in the service, once it is read: it follows roles and policies. */
export function useCan(conversation_id: string): ConversationCanView & { reload: () => Promise<void> }
export function useCan(): ServiceCanView & { reload: () => Promise<void> }
export function useCan(conversation_id = ''): Loading & { reload: () => Promise<void> } {
  const { conversation, service } = canOf(useChatStore())
  return useReloadable<Loading>(conversation_id ? conversation(conversation_id) : service)
}
