import type { UserPresence } from '../../api/presence.ts'
import type { ConversationStreamEvent } from '../types.ts'
import { createCell, type Watchable } from './cell.ts'
import type { Feed, Follower } from './feed.ts'
import type { Plan } from './resource.ts'
import type { StoreClient, Typist } from './types.ts'

/** The presence of users by their id; one who shares no conversation with the user is missing. */
export type PresenceView = Readonly<Record<string, UserPresence>>

/** How many users are asked for at once. */
const MAX_USERS = 200

/** How often a typing status is sent at most: it lasts longer. */
const TYPING_MS = 3_000

/** A status that never ends would stay if clocks differ. */
const LONGEST_TYPING_MS = 30_000

const EMPTY: readonly Typist[] = []

export function presencePlan(client: StoreClient, user_ids: readonly string[]): Plan<PresenceView, PresenceView> {
  return {
    initial: {},
    isEphemeral: true,
    async read() {
      const all: [string, UserPresence][] = []
      for (let at = 0; at < user_ids.length; at += MAX_USERS) {
        const { presence } = await client.presence.list({ user_ids: user_ids.slice(at, at + MAX_USERS).join() })
        all.push(...presence.map((each): [string, UserPresence] => [each.user_id, each]))
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
export function createTyping(feed: Feed, conversation_id: string): Watchable<readonly Typist[]> {
  let timer: ReturnType<typeof setTimeout> | undefined
  let leave: (() => void) | undefined
  const cell = createCell(EMPTY, (isWatched) => (isWatched ? begin() : end()))
  const follower: Follower = {
    load: () => change(() => false),
    resume() {},
    apply(event) {
      const typist = typistOf(event, conversation_id)
      if (!typist || typist.user_id === feed.userId()) return
      change((each) => each.user_id !== typist.user_id, typist)
    },
    fail: () => change(() => false),
    reset: () => change(() => false),
    close: end,
  }

  function begin(): void {
    leave = feed.join(follower)
  }

  function end(): void {
    clearTimeout(timer)
    leave?.()
    leave = undefined
    cell.set(EMPTY)
  }

  function change(keep: (typist: Typist) => boolean, added?: Typist): void {
    const before = cell.getSnapshot()
    const left = before.filter(keep)
    if (added && remaining(added) > 0) left.push(added)
    if (left.length > 0 || before.length > 0) cell.set(left.length > 0 ? left : EMPTY)
    clearTimeout(timer)
    if (left.length === 0) return
    timer = setTimeout(() => change((each) => remaining(each) > 0), Math.max(1, Math.min(...left.map(remaining))))
  }
  const { set: _, ...readable } = cell
  return readable
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
  return Math.min(LONGEST_TYPING_MS, Date.parse(expires_at) - Date.now())
}

/** Sends a typing status at most every few seconds, however often it is called. Failures do not matter. */
export function createTypingSender(client: StoreClient) {
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
