import type { UserPresence } from '../../api/presence.ts'
import type { ConversationStreamEvent } from '../types.ts'
import { partOf, type StoreBase } from './base.ts'
import { createCache } from './cache.ts'
import { createCell, type Readable, type Watchable } from './cell.ts'
import type { Feed, Follower } from './feed.ts'
import type { ChatStore } from './index.ts'
import { lingering } from './lingering.ts'
import type { Plan } from './resource.ts'
import type { StoreClient } from './types.ts'

/** The presence of users by their id; users who share no conversation with this user are missing. */
export type PresenceView = Readonly<Record<string, UserPresence>>

/** A participant who is typing. */
export interface Typist {
  user_id: string
  root_id?: string
  expires_at: string
}

/** Which users are online, and which are typing. */
export interface StorePresence {
  /** The presence of users who share a conversation with the user. */
  presence(user_ids: readonly string[]): Readable<PresenceView>
  /** The other users who are typing in a conversation. */
  typing(conversation_id: string): Readable<readonly Typist[]>
  /** Reports that the user is typing, every three seconds at most. */
  sendTyping(conversation_id: string, root_id?: string): void
}

/** The presence part of a store: the same at each call. */
export function presenceOf(store: ChatStore): StorePresence {
  return partOf(store, createPresence)
}

/** How many users one request names. */
const MAX_USERS = 200

/** How often a typing status is sent at most: it lasts longer. */
const TYPING_MS = 3_000

/** A status that never ends would stay if clocks differ. */
const MAX_TYPING_MS = 30_000

const EMPTY: readonly Typist[] = []

function createPresence({ client, feed, resources }: StoreBase): StorePresence {
  const presence = resources((ids) => presencePlan(client, ids === '' ? [] : ids.split(',')))
  return {
    presence: (ids) => presence.get([...new Set(ids)].sort().join()),
    typing: createCache((id) => createTyping(feed, id)).get,
    sendTyping: createTypingSender(client),
  }
}

function presencePlan(client: StoreClient, user_ids: readonly string[]): Plan<PresenceView, PresenceView> {
  return {
    initial: {},
    isEphemeral: true,
    async read() {
      const all: [string, UserPresence][] = []
      for (let at = 0; at < user_ids.length; at += MAX_USERS) {
        const { presence } = await client.presence.list({ user_ids: user_ids.slice(at, at + MAX_USERS).join() })
        all.push(...presence.map((presence): [string, UserPresence] => [presence.user_id, presence]))
      }
      return Object.fromEntries(all)
    },
    fold(data, event) {
      if (event.type !== 'presence.update' || !user_ids.includes(event.payload.user_id)) return data
      return { ...data, [event.payload.user_id]: event.payload }
    },
    view: (data) => data,
  }
}

/** The other users who are typing in a conversation, in the order they began. */
function createTyping(feed: Feed, conversation_id: string): Watchable<readonly Typist[]> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const forget = () => show(EMPTY)
  const follower: Follower = {
    load: forget,
    apply(event) {
      const typist = typistOf(event, conversation_id)
      if (!typist || typist.user_id === feed.userId()) return
      show([...cell.getSnapshot().filter(({ user_id }) => user_id !== typist.user_id), typist])
    },
    fail: forget,
    reset: forget,
    close: forget,
  }
  const { set, ...cell } = createCell(
    EMPTY,
    lingering(() => feed.join(follower), forget),
  )

  /** Shows the users whose typing has not expired, until the first of them does. */
  function show(typists: readonly Typist[]): void {
    const left = typists.filter((typing) => remaining(typing) > 0)
    set(left.length > 0 ? left : EMPTY)
    clearTimeout(timer)
    if (left.length > 0) timer = setTimeout(() => show(left), Math.max(1, Math.min(...left.map(remaining))))
  }
  return cell
}

/** A change of what a user is typing: a message of the user ends it. */
function typistOf(event: ConversationStreamEvent, conversation_id: string): Typist | undefined {
  if (event.type === 'typing.update' && event.payload.conversation_id === conversation_id) {
    const { user_id, root_id, expires_at } = event.payload
    return { user_id, ...(root_id !== undefined && { root_id }), expires_at }
  }
  if (event.type !== 'message.new' || event.payload.message.conversation_id !== conversation_id) return undefined
  const { author_user_id: user_id, created_at: expires_at } = event.payload.message
  return user_id === undefined ? undefined : { user_id, expires_at }
}

function remaining({ expires_at }: Typist): number {
  return Math.min(MAX_TYPING_MS, Date.parse(expires_at) - Date.now())
}

/** Sends a typing status at most every few seconds, however often it is called. Failures do not matter. */
function createTypingSender(client: StoreClient) {
  const sent = new Map<string, number>()
  return (conversation_id: string, root_id?: string): void => {
    const now = Date.now()
    const key = `${conversation_id} ${root_id ?? ''}`
    if (now - (sent.get(key) ?? 0) < TYPING_MS) return
    for (const [each, at] of sent) if (now - at >= TYPING_MS) sent.delete(each)
    sent.set(key, now)
    client.presence.setTyping({ conversation_id, root_id }).catch(() => {})
  }
}
