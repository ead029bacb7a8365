import { signal } from '@preact/signals'
import type { ConversationSummary } from 'chat-server/client'
import { useEffect, useMemo, useState } from 'preact/hooks'
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

const joins = signal(0)

/** The user has joined the room that is shown: it is read again, as a participant. */
export function noteJoin(): void {
  joins.value += 1
}

interface Read {
  id: string
  conversation?: OpenConversation
  error?: unknown
}

/** The conversation of the list; one that is too far down in it, or archived, is read by itself, which may fail. */
export function useConversation(id: string | undefined): Omit<Read, 'id'> & { reload(): void } {
  const { client, store } = useApp()
  const { conversations, status } = useReadable(store.conversations)
  const listed = useMemo(() => conversations.find((each) => each.id === id), [conversations, id])
  const [read, setRead] = useState<Read>()
  const [round, setRound] = useState(0)
  useEffect(() => {
    if (id === undefined || listed || status === 'loading') return
    client.conversations.get(id).then(
      ({ with: partner, direct, ...rest }) =>
        setRead({ id, conversation: { ...rest, ...(direct && { direct }), ...(partner && { with: partner }) } }),
      (error: unknown) => setRead({ id, error }),
    )
  }, [id, listed, status, round, joins.value])
  const reload = () => {
    setRead(undefined)
    setRound((before) => before + 1)
  }
  if (listed) return { conversation: listed, reload }
  return { ...(read?.id === id && read), reload }
}
