import type { StoreMessage } from 'chat-server/client/store'
import { useMemo } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { NO_MENTIONS } from '../markdown/mentions.tsx'
import type { MentionedNames } from '../markdown/split-mentions.ts'

/** The names that a message mentions; one of a person who is not known yet is marked when it is. */
export function useMentioned({ mentions }: StoreMessage, user_id: string): MentionedNames {
  const known = useApp().people.known.value
  return useMemo(() => {
    if (!mentions) return NO_MENTIONS
    const names = new Map<string, boolean>()
    for (const id of mentions.user_ids) {
      const person = known.get(id)
      if (person) names.set(person.username.toLowerCase(), id === user_id)
    }
    if (mentions.all) names.set('all', true)
    return names
  }, [mentions, known, user_id])
}
