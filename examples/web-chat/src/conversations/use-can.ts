import type { ConversationSummary } from 'chat-server/client'
import { useMemo } from 'preact/hooks'
import type { OpenConversation } from './use-conversation.ts'

/** Something that the user may do in a conversation. */
export type Act = ConversationSummary['can'][number]

/** What the user may do in a conversation. */
export type Can = ReadonlySet<Act>

const NONE: readonly Act[] = []

/** What the user may do in a conversation: the same set while nothing of it changes, as whole lists are rendered by it. */
export function useCan(conversation: OpenConversation | undefined): Can {
  const acts = conversation?.can ?? NONE
  return useMemo(() => new Set(acts), [acts.join()])
}

/** Whether the user may write in it: begin threads, or reply. */
export function mayWrite(can: Can): boolean {
  return can.has('post') || can.has('reply')
}
