import { signal } from '@preact/signals'
import type { ChatClient } from 'chat-server/client'
import type { StoreMessage } from 'chat-server/client/store'
import { showToast } from '../parts/toast.tsx'
import { texts } from '../texts/texts.ts'

type Rating = NonNullable<StoreMessage['feedback']>['rating']

/** What the user has thought since the message was read: no event says it. */
const changed = signal<ReadonlyMap<string, Rating | undefined>>(new Map())

/** What the user thinks of an answer. */
export function ratingOf({ id, feedback }: StoreMessage): Rating | undefined {
  return changed.value.has(id) ? changed.value.get(id) : feedback?.rating
}

/** Rates an answer, or takes the same rating back. */
export async function rate(client: ChatClient, message: StoreMessage, rating: Rating): Promise<void> {
  const { id } = message
  const isTakenBack = ratingOf(message) === rating
  await (isTakenBack ? client.feedback.remove(id) : client.feedback.set(id, { rating }))
  changed.value = new Map(changed.value).set(id, isTakenBack ? undefined : rating)
  const { rated, rating_removed } = texts.value.messages
  showToast(isTakenBack ? rating_removed : rated)
}
