import type { NewPost } from 'chat-server/client/store'

/** A post with its `Idempotency-Key`, the tab that sends it, and when it was posted. */
export interface UnsentPost extends NewPost {
  key: string
  tab: string
  at: number
}

const PREFIX = 'chat:unsent:'

/** The posts of a user that are not known to be stored, the oldest first. */
export function unsentPosts(user_id: string): UnsentPost[] {
  const keys = attempt(() => Object.keys(localStorage).filter((key) => key.startsWith(keyOf(user_id, '')))) ?? []
  return keys
    .flatMap((key) => attempt(() => JSON.parse(localStorage.getItem(key)!) as UnsentPost) ?? [])
    .sort((one, other) => one.at - other.at)
}

export function keepUnsentPost(user_id: string, post: UnsentPost): void {
  attempt(() => localStorage.setItem(keyOf(user_id, post.key), JSON.stringify(post)))
}

export function forgetUnsentPost(user_id: string, key: string): void {
  attempt(() => localStorage.removeItem(keyOf(user_id, key)))
}

/** At a sign-out. */
export function forgetUnsent(user_id: string): void {
  for (const { key } of unsentPosts(user_id)) forgetUnsentPost(user_id, key)
}

function keyOf(user_id: string, key: string): string {
  return `${PREFIX}${user_id}:${key}`
}

/** A browser may have no storage left, or allow none: the page then works without. */
function attempt<T>(access: () => T): T | undefined {
  try {
    return access()
  } catch {
    return undefined
  }
}
