import { useMemo } from 'react'
import { type AssistantChatActions, type AssistantChatView, assistantOf } from '../store/parts.ts'
import { useChatStore } from './context.ts'
import { useReadable } from './readable.ts'

/** The talk with an assistant in a conversation: its messages, the calls of tools that wait for a decision, and what the user does. */
export function useAssistantChat(conversation_id: string): AssistantChatView & AssistantChatActions {
  const chat = assistantOf(useChatStore(), conversation_id)
  const view = useReadable(chat)
  return useMemo(() => {
    const { send, stop, regenerate, decide, loadOlder } = chat
    return { ...view, send, stop, regenerate, decide, loadOlder }
  }, [view, chat])
}
