import type { StoreMessage } from 'chat-server/client/store'
import { useEffect, useRef } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { announce } from '../parts/announcer.tsx'
import { texts } from '../texts/texts.ts'
import { authorOf } from './author.ts'

/** Of a long message, the beginning is read aloud. */
const MAX_LENGTH = 200

/** Has screen readers say what others write, and when an answer is complete. */
export function useAnnouncements(messages: readonly StoreMessage[], has_more: boolean, user_id: string): void {
  const { people } = useApp()
  const known = useRef<Map<string, string> | undefined>(undefined)
  useEffect(() => {
    if (messages.length === 0) return
    const before = known.current
    // What comes with a further page was written before.
    known.current = has_more ? undefined : new Map(messages.map(({ id, status }) => [id, status]))
    if (!before || has_more) return
    const { arrived, answered } = texts.value.messages
    for (const message of messages.filter(({ id, status }) => before.get(id) !== status)) {
      const { id, role, status, author_user_id, content } = message
      if (role === 'assistant' && status === 'complete') announce(answered(authorOf(message, people)))
      else if (role !== 'assistant' && !before.has(id) && author_user_id !== user_id && !message.pending)
        announce(arrived(authorOf(message, people), content.slice(0, MAX_LENGTH)))
    }
  }, [messages, has_more])
}
