import { ChatError, type Person, type SearchResult } from 'chat-server/client'
import { useApp } from '../app/context.ts'
import { type Found, useFound } from './use-found.ts'

/** How many people, and how many messages are offered. */
const MAX_FOUND = 8

/** The people whose username begins with what is typed. */
export function usePeople(typed: string): Found<Person> {
  const { client } = useApp()
  return useFound<Person>(typed, {
    read: async (query, signal) => (await client.users.search({ query, limit: MAX_FOUND }, { signal })).users,
    stays: ({ username }, query) => username.toLowerCase().startsWith(query.toLowerCase()),
  })
}

/** The latest messages with the words that are typed. */
export function useMessages(typed: string): Found<SearchResult> {
  const { client } = useApp()
  return useFound<SearchResult>(typed, {
    read: (query, signal) =>
      client.search.messages({ q: query, limit: MAX_FOUND }, { signal }).then(
        ({ results }) => results,
        (error) => {
          // A query that is not finished, such as `in:` without an id, finds nothing yet.
          if (error instanceof ChatError && ['validation_failed', 'not_found'].includes(error.code)) return []
          throw error
        },
      ),
    stays: () => false,
  })
}
