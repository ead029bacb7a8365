import type { ConversationSummary, Person, SearchResult } from 'chat-server/client'
import { useEffect, useState } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { nameOf } from '../app/people.ts'
import { useReadable } from '../app/readable.ts'
import { titleOf } from '../conversations/title.ts'
import { matching } from './matching.ts'
import { useMessages, usePeople } from './use-lookups.ts'

/** How many conversations are read at once, and how many pages of them at most. */
const PAGE = 200
const MAX_PAGES = 5

/** Where one can go: a conversation, a person with whom there is no direct one yet, or a message. */
export interface Choice {
  id: string
  name: string
  /** Of the person, also in a direct conversation. */
  user_id?: string
  username?: string
  conversation_id?: string
  message?: SearchResult
}

/**
 * What matches a query: conversations by their title, direct ones by the name of the other person, then people, then
 * messages by their words.
 */
export function useChoices(query: string): { choices: Choice[]; isLoading: boolean; error: unknown } {
  const { features, session } = useApp()
  const { conversations, error } = useConversations()
  const people = usePeople(features.direct ? query : '')
  const messages = useMessages(features.search ? query : '')
  const known = new Set(conversations.flatMap((each) => each.with?.user_id ?? []))
  const own_id = session.user.value?.id
  const newcomers = people.items.filter(({ id }) => id !== own_id && !known.has(id))
  return {
    choices: [
      ...matching(conversations, query, searchedOf).map(ofConversation),
      ...newcomers.map(ofPerson),
      ...messages.items.map((result) => ofMessage(result, conversations)),
    ],
    isLoading: people.isLoading || messages.isLoading,
    error: error ?? people.error ?? messages.error,
  }
}

/** The latest ones at once, then all, archived ones too. */
function useConversations(): { conversations: readonly ConversationSummary[]; error: unknown } {
  const { client, store } = useApp()
  const listed = useReadable(store.conversations)
  const [all, setAll] = useState<{ conversations?: ConversationSummary[]; error?: unknown }>({})
  useEffect(() => {
    const abort = new AbortController()
    const read = async () => {
      const conversations: ConversationSummary[] = []
      let after: string | undefined
      for (let page = 0; page < MAX_PAGES; page++) {
        const query = { archived: 'all', limit: PAGE, ...(after && { after }) } as const
        const next = await client.conversations.list(query, { signal: abort.signal })
        conversations.push(...next.conversations)
        after = next.next_after
        if (after === undefined) break
      }
      setAll({ conversations })
    }
    read().catch((error) => abort.signal.aborted || setAll({ error }))
    return () => abort.abort()
  }, [])
  return { conversations: all.conversations ?? listed.conversations, error: all.error }
}

function searchedOf(conversation: ConversationSummary): string {
  const { with: partner } = conversation
  return partner ? `${titleOf(conversation)} ${partner.username}` : titleOf(conversation)
}

function ofConversation(conversation: ConversationSummary): Choice {
  const { id, with: partner } = conversation
  const name = titleOf(conversation)
  return { id, name, conversation_id: id, ...(partner && { user_id: partner.user_id, username: partner.username }) }
}

function ofPerson(person: Person): Choice {
  return { id: person.id, name: nameOf(person), user_id: person.id, username: person.username }
}

function ofMessage(message: SearchResult, conversations: readonly ConversationSummary[]): Choice {
  const { id, title } = message.conversation
  const place = conversations.find((each) => each.id === id)
  return { id: message.message.id, name: place ? titleOf(place) : title, conversation_id: id, message }
}
