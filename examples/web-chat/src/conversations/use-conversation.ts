import type { ConversationSummary } from 'chat-server/client'
import { type ConversationCanView, canOf } from 'chat-server/client/parts'
import type { Reloadable } from 'chat-server/client/store'
import { useMemo } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { useReadable } from '../app/readable.ts'

/** What the page needs to know of a conversation. */
export type OpenConversation = Pick<
  ConversationSummary,
  | 'id'
  | 'title'
  | 'participant_count'
  | 'direct'
  | 'with'
  | 'policy'
  | 'layout'
  | 'layout_unset'
  | 'topic'
  | 'icon'
  | 'can'
  | 'frozen_at'
  | 'visibility'
  | 'auto_join'
  | 'assistant'
> & {
  /** Missing for a user who does not participate. */
  role?: ConversationSummary['role']
  unread_replies?: number
  /** `false` for a user who reads an open room without participating. */
  joined?: false
}

/** In the place of what is read, while nothing is. */
const NOTHING: Reloadable<ConversationCanView> = {
  getSnapshot: () => IDLE,
  getServerSnapshot: () => IDLE,
  subscribe: () => () => {},
  reload: async () => {},
}
const IDLE: ConversationCanView = { status: 'loading' }

interface Opened {
  conversation?: OpenConversation
  error?: unknown
  reload: () => Promise<void>
}

/** The conversation of the list; one that is too far down in it, archived, or only read, is read by itself, which may fail. */
export function useConversation(id: string | undefined): Opened {
  const { store } = useApp()
  const { conversations, status } = useReadable(store.conversations)
  const listed = useMemo(() => conversations.find((each) => each.id === id), [conversations, id])
  const isRead = id !== undefined && !listed && status !== 'loading'
  const single = useMemo(() => (isRead ? canOf(store).conversation(id) : NOTHING), [isRead, id, store])
  const { conversation = listed, error } = useReadable(single)
  return { ...(conversation && { conversation }), error, reload: single.reload }
}
