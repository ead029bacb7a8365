import { ChatError, type Participant, type Person, type SearchResult } from 'chat-server/client'
import { useApp } from '../app/context.ts'
import { MAX_READ } from '../app/people.ts'
import { queryWords } from '../search/narrowing.ts'
import { hasWords } from './matching.ts'
import { type Found, useFound } from './use-found.ts'

/** How many people, and how many messages are offered. */
const MAX_FOUND = 8

/** The people with words in their names that begin so. @param reason only those to whom the user may write, or whom the user may add */
export function usePeople(typed: string, reason?: 'direct' | 'add'): Found<Person> {
  const { client } = useApp()
  return useFound<Person>(typed, {
    read: async (query, signal) => {
      const filter = { query, limit: MAX_FOUND, ...(reason && { for: reason }) }
      return (await client.users.search(filter, { signal })).users
    },
    stays: ({ username, display_name = '' }, query) => hasWords(`${username} ${display_name}`, query),
  })
}

/** The participants of a conversation with words in their names that begin so, where it has more than are read. */
export function useParticipants(conversation_id: string, typed: string): Found<Participant> {
  const { client, people } = useApp()
  return useFound<Participant>(people.of(conversation_id).length < MAX_READ ? '' : typed, {
    read: async (query, signal) =>
      (await client.participants.list(conversation_id, { query, limit: MAX_FOUND }, { signal })).participants,
    stays: ({ username, display_name = '' }, query) => hasWords(`${username} ${display_name}`, query),
  })
}

/** The latest messages with the words that are typed. */
export function useMessages(typed: string): Found<SearchResult> {
  const { client } = useApp()
  return useFound<SearchResult>(typed, {
    read: (query, signal) =>
      client.search.messages({ q: queryWords(query), limit: MAX_FOUND }, { signal }).then(
        ({ results }) => results,
        (error) => {
          // One without a word that must be there, such as `-word`, finds nothing yet.
          if (error instanceof ChatError && error.code === 'validation_failed') return []
          throw error
        },
      ),
    stays: () => false,
  })
}
