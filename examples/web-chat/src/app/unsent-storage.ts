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

/** Changes when a post is forgotten. */
const forgotten = signal(0)

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

/** The posts of a place that are not sent by themselves any more. A component that calls it is rendered again when one is forgotten. */
export function oldPosts(user_id: string, place: string): UnsentPost[] {
  forgotten.value
  return unsentPosts(user_id).filter((post) => isTooOld(post) && (post.root_id ?? post.conversation_id) === place)
}

export function keepUnsentPost(user_id: string, post: UnsentPost): void {
  attempt(() => localStorage.setItem(keyOf(user_id, post.key), JSON.stringify(post)))
}

export function forgetUnsentPost(user_id: string, key: string): void {
  attempt(() => localStorage.removeItem(keyOf(user_id, key)))
  forgotten.value++
}

/** At a sign-out. */
export function forgetUnsent(user_id: string): void {
  for (const { key } of unsentPosts(user_id)) forgetUnsentPost(user_id, key)
}

function keyOf(user_id: string, key: string): string {
  return `${PREFIX}${user_id}:${key}`
}
