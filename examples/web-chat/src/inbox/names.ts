import type { Notification } from 'chat-server/client'
import { useEffect, useRef } from 'preact/hooks'
import { useApp } from '../app/context.ts'

/** Reads the names of people who are not known yet, once for each conversation. */
export function useNames(items: readonly Pick<Notification, 'actor_user_id' | 'conversation_id'>[]): void {
  const { people } = useApp()
  const asked = useRef(new Set<string>())
  useEffect(() => {
    for (const { actor_user_id, conversation_id } of items) {
      if (actor_user_id === undefined || people.known.peek().has(actor_user_id)) continue
      if (conversation_id === undefined || asked.current.has(conversation_id)) continue
      asked.current.add(conversation_id)
      void people.load(conversation_id).catch(() => {})
    }
  }, [items])
}
