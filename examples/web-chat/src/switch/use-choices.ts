import type { ConversationSummary, Person, SearchResult } from 'chat-server/client'
import { useApp } from '../app/context.ts'
import { nameOf } from '../app/people.ts'
import { titleOf } from '../conversations/title.ts'
import { useAllConversations } from '../conversations/use-all.ts'
import { matching } from './matching.ts'
import { useMessages, usePeople } from './use-lookups.ts'

/** Where one can go: a conversation, a person with whom there is no direct one yet, or a message. */
export interface Choice {
  id: string
  name: string
  /** Of the person, also in a direct conversation. */
  user_id?: string
  username?: string
  photo?: string | undefined
  conversation_id?: string
  /** What it leads to, unless that is a message. */
  conversation?: ConversationSummary
  message?: SearchResult
}

interface Choices {
  choices: Choice[]
  isLoading: boolean
  error: unknown
}

/** What matches a query: conversations and people, then messages by their words. */
export function useChoices(query: string): Choices {
  const { features } = useApp()
  const places = usePlaces(query)
  const messages = useMessages(features.search ? query : '')
  return {
    choices: [...places.choices, ...messages.items.map((result) => ofMessage(result, places.conversations))],
    isLoading: places.isLoading || messages.isLoading,
    error: places.error ?? messages.error,
  }
}

/** Where a query leads: conversations by their title, direct ones by the name of the other person, then people. */
export function usePlaces(query: string): Choices & { conversations: readonly ConversationSummary[] } {
  const { features, session } = useApp()
  const { conversations, error } = useAllConversations()
  const people = usePeople(features.direct ? query : '', 'direct')
  const known = new Set(conversations.flatMap((each) => each.with?.user_id ?? []))
  const own_id = session.user.value?.id
  const newcomers = people.items.filter(({ id }) => id !== own_id && !known.has(id))
  return {
    choices: [...matching(conversations, query, searchedOf).map(ofConversation), ...newcomers.map(ofPerson)],
    isLoading: people.isLoading,
    error: error ?? people.error,
    conversations,
  }
}

function searchedOf(conversation: ConversationSummary): string {
  const { with: partner } = conversation
  return partner ? `${titleOf(conversation)} ${partner.username}` : titleOf(conversation)
}

function ofConversation(conversation: ConversationSummary): Choice {
  const { id, with: partner } = conversation
  const name = titleOf(conversation)
  return { id, name, conversation_id: id, conversation, ...(partner && personOf(partner.user_id, partner)) }
}

function ofPerson(person: Person): Choice {
  return { id: person.id, name: nameOf(person), ...personOf(person.id, person) }
}

function personOf(user_id: string, { username, avatar_url }: Pick<Person, 'username' | 'avatar_url'>) {
  return { user_id, username, photo: avatar_url }
}

function ofMessage(message: SearchResult, conversations: readonly ConversationSummary[]): Choice {
  const { id, title } = message.conversation
  const place = conversations.find((each) => each.id === id)
  return { id: message.message.id, name: place ? titleOf(place) : title, conversation_id: id, message }
}
