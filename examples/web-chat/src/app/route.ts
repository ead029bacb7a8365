import { type ReadonlySignal, signal } from '@preact/signals'

/** What the page shows: its address behind `#`. */
export type Route =
  | { name: 'home' }
  | ConversationRoute
  | ThreadRoute
  | DetailsRoute
  | { name: 'inbox'; tab?: string }
  | { name: 'threads' }
  | { name: 'drafts' }
  | { name: 'browse' }
  | { name: 'join' | 'welcome'; token: string }
  | MailedRoute
  | AccountRoute
  | AdministrationRoute
  | SearchRoute

/** What mailed links do, besides inviting. */
export const MAILED = ['reset', 'verify', 'change-email', 'undo'] as const

/** A mailed link; each leads here where the service has no other page for it. */
export interface MailedRoute {
  name: (typeof MAILED)[number]
  token: string
}

/** A conversation, or one message in it, which is then in view. */
export interface ConversationRoute {
  name: 'conversation'
  conversation_id: string
  message_id?: string
}

/** A thread, or one message in it, which is then in view. */
export interface ThreadRoute {
  name: 'thread'
  conversation_id: string
  root_id: string
  message_id?: string
}

/** What is known of a conversation: a tab of it. */
export interface DetailsRoute {
  name: 'details'
  conversation_id: string
  tab: string
}

/** The tabs of a conversation's details. */
export const DETAILS_TABS = [
  'about',
  'people',
  'pins',
  'files',
  'notifications',
  'policies',
  'invites',
  'integrations',
] as const

/** A tab of the details. */
export type DetailsTab = (typeof DETAILS_TABS)[number]

/** A part of the account, or one thing in it. */
export interface AccountRoute {
  name: 'account'
  tab: string
  id?: string
}

/** A part of the administration, or one thing in it. */
export interface AdministrationRoute {
  name: 'administration'
  tab: string
  id?: string
}

/** A search for messages: the words, and what narrows it; dates are those of the user. */
export interface SearchRoute {
  name: 'search'
  q: string
  /** The id of a conversation. */
  in?: string
  /** `@` and a username, or an id. */
  from?: string
  before?: string
  after?: string
  has?: 'file' | 'link' | 'mention' | 'reaction' | 'pin'
}

/** The address of a route, for a link. */
export function hrefOf(route: Route): string {
  switch (route.name) {
    case 'home':
      return '#/'
    case 'conversation':
      return `#/c/${route.conversation_id}${ofMessage(route)}`
    case 'thread':
      return `#/c/${route.conversation_id}/t/${route.root_id}${ofMessage(route)}`
    case 'details':
      return `#/c/${route.conversation_id}/details/${route.tab}`
    case 'inbox':
      return route.tab === undefined ? '#/inbox' : `#/inbox/${route.tab}`
    case 'threads':
    case 'drafts':
    case 'browse':
      return `#/${route.name}`
    case 'account':
    case 'administration':
      return `#/${route.name}/${route.tab}${route.id === undefined ? '' : `/${route.id}`}`
    case 'search': {
      const { name: _, ...query } = route
      return `#/search?${new URLSearchParams(query as Record<string, string>)}`
    }
    default:
      return `#/${route.name}/${route.token}`
  }
}

/** Where a message is read, by the layout of its conversation: in that if it begins a thread, else in its thread. */
export function routeOfMessage(
  { conversation_id, root_id, message_id }: Required<Omit<ThreadRoute, 'name'>>,
  layout?: string,
): Route {
  // A talk shows all of its threads, one after another; topics show none.
  const isInConversation = layout === 'assistant' || (message_id === root_id && layout !== 'topics')
  if (isInConversation) return { name: 'conversation', conversation_id, message_id }
  return { name: 'thread', conversation_id, root_id, message_id }
}

function ofMessage({ message_id }: { message_id?: string }): string {
  return message_id === undefined ? '' : `/m/${message_id}`
}

/** The route of an address; an unknown one is that of the start. */
export function parseHash(hash: string): Route {
  const [path = '', query] = hash.replace(/^#\/?/, '').split('?')
  const [name, first, second, third, fourth, fifth] = path.split('/')
  if (name === 'search') return { q: '', ...Object.fromEntries(new URLSearchParams(query)), name }
  if (name === 'inbox') return { name, ...(first && { tab: first }) }
  if (name === 'threads' || name === 'drafts' || name === 'browse') return { name }
  if ((name === 'join' || name === 'welcome') && first) return { name, token: first }
  const mailed = MAILED.find((each) => each === name)
  if (mailed && first) return { name: mailed, token: first }
  if (name === 'account' || name === 'administration') return { name, tab: first ?? '', ...(second && { id: second }) }
  if (name !== 'c' || !first) return { name: 'home' }
  if (second === 'details') return { name: 'details', conversation_id: first, tab: third ?? '' }
  if (second === 'm' && third) return { name: 'conversation', conversation_id: first, message_id: third }
  if (second !== 't' || !third) return { name: 'conversation', conversation_id: first }
  const thread: ThreadRoute = { name: 'thread', conversation_id: first, root_id: third }
  return fourth === 'm' && fifth ? { ...thread, message_id: fifth } : thread
}

/** The whole address of a route, to give to others. */
export function linkTo(route: Route): string {
  return new URL(hrefOf(route), location.href).href
}

/** The route of the page, which changes with its address. */
export function followHash(): ReadonlySignal<Route> {
  const route = signal(parseHash(location.hash))
  addEventListener('hashchange', () => {
    route.value = parseHash(location.hash)
  })
  return route
}

/** Goes there; `replace` leaves no step to come back to. */
export function goTo(route: Route, { replace = false } = {}): void {
  if (replace) location.replace(hrefOf(route))
  else location.hash = hrefOf(route)
}
