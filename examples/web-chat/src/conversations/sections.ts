import type { ConversationSummary } from 'chat-server/client'
import { keptChoice } from '../app/kept-choice.ts'

/** The sections of the list, in their order; a conversation is in the first that is its own. */
export const SECTIONS = ['favourites', 'rooms', 'direct', 'assistant'] as const

/** A section of the list. */
export type Section = (typeof SECTIONS)[number]

/** In which section a conversation is. */
export function sectionOf({ favourite, layout, direct }: ConversationSummary): Section {
  if (favourite) return 'favourites'
  if (layout === 'assistant') return 'assistant'
  return direct ? 'direct' : 'rooms'
}

const kept = (section: Section) => keptChoice(`chat:section:${section}`, ['open', 'closed'])

/** Which sections are collapsed: the browser keeps it. */
export const openings = {
  favourites: kept('favourites'),
  rooms: kept('rooms'),
  direct: kept('direct'),
  assistant: kept('assistant'),
}

/** A row of the list: the head of a section, or a conversation in it. */
export type ListRow = { section: Section; isOpen: boolean } | ConversationSummary

/** Conversations in the order of the list: by their sections. */
export function bySections(conversations: readonly ConversationSummary[]): ConversationSummary[] {
  return SECTIONS.flatMap((section) => conversations.filter((each) => sectionOf(each) === section))
}

/** Heads and conversations as they stand below each other; `shown` are the sections that are there without a conversation. */
export function rowsOf(conversations: readonly ConversationSummary[], shown: readonly Section[]): ListRow[] {
  return SECTIONS.flatMap((section) => {
    const found = conversations.filter((each) => sectionOf(each) === section)
    if (found.length === 0 && !shown.includes(section)) return []
    const isOpen = openings[section].value === 'open'
    return [{ section, isOpen }, ...(isOpen ? found : [])]
  })
}
