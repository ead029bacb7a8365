import type { Person } from '../api/client-entities.ts'
import type { ChatClient } from '../client/types.ts'

/** So many users are read by one call, which is more than a page of messages has. */
export const MAX_PEOPLE = 100

/** How many conversations are known to be direct ones, or not. */
const MAX_KNOWN = 10_000

/** What events do not say of users and conversations. */
export interface Directory {
  /** The users with these ids that the client may see, by id. */
  people(ids: Iterable<string | undefined>): Promise<Map<string, Person>>
  /** Whether a conversation is a direct one, which never changes. */
  isDirect(conversation_id: string): Promise<boolean>
  /** Whether it is known, without a wait, that a conversation is a direct one. */
  isKnownAsDirect(conversation_id: string): boolean
}

export function createDirectory(client: ChatClient): Directory {
  const direct = new Map<string, Promise<boolean>>()
  const known = new Set<string>()
  return {
    async people(ids) {
      const wanted = [...new Set(ids)].filter((id) => id !== undefined).slice(0, MAX_PEOPLE)
      if (wanted.length === 0) return new Map()
      const { users } = await client.users.search({ ids: wanted.join(',') })
      return new Map(users.map((user) => [user.id, user]))
    },
    isDirect(conversation_id) {
      const before = direct.get(conversation_id)
      if (before) return before
      if (direct.size >= MAX_KNOWN) for (const all of [direct, known]) all.clear()
      const asked = client.conversations.get(conversation_id).then((conversation) => {
        if (conversation.direct) known.add(conversation_id)
        return conversation.direct === true
      })
      direct.set(conversation_id, asked)
      asked.catch(() => direct.delete(conversation_id))
      return asked
    },
    isKnownAsDirect: (conversation_id) => known.has(conversation_id),
  }
}
