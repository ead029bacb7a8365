import type { ConversationSummary, User } from 'chat-server/client'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { useReadable } from '../app/readable.ts'

/** What the page needs to know of a conversation. */
export type OpenConversation = Pick<
  ConversationSummary,
  | 'id'
  | 'title'
  | 'role'
  | 'participant_count'
  | 'direct'
  | 'with'
  | 'policy'
  | 'layout'
  | 'layout_unset'
  | 'topic'
  | 'icon'
> & { unread_replies?: number }

/** The conversation of the list; one that is too far down in it, or archived, is read by itself. */
export function useConversation(id: string | undefined, user: User): OpenConversation | undefined {
  const { client, store } = useApp()
  const { conversations, status } = useReadable(store.conversations)
  const listed = useMemo(() => conversations.find((each) => each.id === id), [conversations, id])
  const [read, setRead] = useState<OpenConversation>()
  useEffect(() => {
    if (id === undefined || listed || status !== 'ready') return
    client.conversations.get(id).then(
      ({ participants, with: partner, direct, ...rest }) => {
        const role = participants.find(({ user_id }) => user_id === user.id)?.role ?? 'member'
        setRead({ ...rest, role, ...(direct && { direct }), ...(partner && { with: partner }) })
      },
      // Its threads fail for the same reason, and show it.
      () => {},
    )
  }, [id, listed, status])
  return listed ?? (read?.id === id ? read : undefined)
}

/** Whether the user may write in it. */
export function mayWrite(conversation: OpenConversation | undefined, user: User): boolean {
  return conversation !== undefined && conversation.role !== 'viewer' && user.roles.some((role) => role !== 'read_only')
}
