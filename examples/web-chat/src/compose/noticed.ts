import { signal } from '@preact/signals'
import { attempt } from '../app/attempt.ts'

/** Where the browser keeps which user has asked since the notice of the assistants was shown. */
export const NOTICED = 'chat:noticed'

const noticed = signal(attempt(() => localStorage.getItem(NOTICED)))

/** Whether the user has asked an assistant before, on this device. */
export function hasAsked(user_id: string): boolean {
  return noticed.value === user_id
}

/** The user asks: what is shown before the first question is known. */
export function noteQuestion(user_id: string): void {
  if (hasAsked(user_id)) return
  noticed.value = user_id
  attempt(() => localStorage.setItem(NOTICED, user_id))
}
