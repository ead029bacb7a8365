import { signal } from '@preact/signals'
import type { NewPost } from 'chat-server/client/store'
import { attempt } from './attempt.ts'

/** A post with its `Idempotency-Key`, the tab that sends it, and when it was posted. */
export interface UnsentPost extends NewPost {
  key: string
  tab: string
  at: number
}

const PREFIX = 'chat:unsent:'

/** The service knows a key for a day: an older post could be stored a second time, and is sent only when the user says so. */
const KNOWN_MS = 23 * 60 * 60 * 1000

/** This tab, among those of the browser. */
export const TAB = newKey()

/** Changes when a post is forgotten. */
const forgotten = signal(0)
addEventListener('storage', ({ key, newValue }) => {
  if (key?.startsWith(PREFIX) && newValue === null) forgotten.value++
})

/** The posts of a user that are not known to be stored, the oldest first. */
export function unsentPosts(user_id: string): UnsentPost[] {
  const keys = attempt(() => Object.keys(localStorage).filter((key) => key.startsWith(keyOf(user_id, '')))) ?? []
  return keys
    .flatMap((key) => attempt(() => JSON.parse(localStorage.getItem(key)!) as UnsentPost) ?? [])
    .sort((one, other) => one.at - other.at)
}

export function isTooOld({ at }: UnsentPost): boolean {
  return Date.now() - at >= KNOWN_MS
}

/** The post with a key, if it is kept. */
export function unsentPost(user_id: string, key: string): UnsentPost | undefined {
  return unsentPosts(user_id).find((post) => post.key === key)
}

/**
 * The posts that an earlier page has left in a place, and that are not sent by themselves any more. A component that calls it
 * is rendered again when one is forgotten.
 *
 * @param place a thread, or a conversation: of a talk, it has the posts to all of its threads
 */
export function oldPosts(user_id: string, place: string, isTalk: boolean): UnsentPost[] {
  forgotten.value
  return unsentPosts(user_id).filter(
    // What this page has posted is among its messages.
    (post) =>
      isTooOld(post) &&
      post.tab !== TAB &&
      ((post.root_id ?? post.conversation_id) === place || (isTalk && post.conversation_id === place)),
  )
}

export function keepUnsentPost(user_id: string, post: UnsentPost): void {
  attempt(() => localStorage.setItem(keyOf(user_id, post.key), JSON.stringify(post)))
}

export function forgetUnsentPost(user_id: string, key: string): void {
  attempt(() => localStorage.removeItem(keyOf(user_id, key)))
  forgotten.value++
}

/**
 * Forgets a post that has waited for too long, to send it with another key. That is the same in each tab: of two that send it
 * at once, the service stores one.
 *
 * @returns `undefined` if another tab has done so
 */
export function renewUnsentPost(user_id: string, key: string): NewPost | undefined {
  const post = unsentPost(user_id, key)
  if (!post) return undefined
  forgetUnsentPost(user_id, key)
  const { tab: _, at: __, ...rest } = post
  return { ...rest, key: `${key}+` }
}

/** At a sign-out. */
export function forgetUnsent(user_id: string): void {
  for (const { key } of unsentPosts(user_id)) forgetUnsentPost(user_id, key)
}

function keyOf(user_id: string, key: string): string {
  return `${PREFIX}${user_id}:${key}`
}

/** `crypto.randomUUID` exists on HTTPS and localhost only. */
export function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join('-')
}
