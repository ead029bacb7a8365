import { attempt } from './attempt.ts'

const keyOf = (user_id: string) => `chat:last:${user_id}`

/** The conversation that a user has opened last in this browser. */
export function lastPlace(user_id: string): string | null | undefined {
  return attempt(() => localStorage.getItem(keyOf(user_id)))
}

/** @param conversation_id `undefined` at a sign-out */
export function keepLastPlace(user_id: string, conversation_id?: string): void {
  const key = keyOf(user_id)
  attempt(() => (conversation_id ? localStorage.setItem(key, conversation_id) : localStorage.removeItem(key)))
}
