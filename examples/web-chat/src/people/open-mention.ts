import type { App } from '../app/context.ts'
import { shownProfile } from './shown-profile.ts'

/** Opens the card of a person who is mentioned in the open conversation. */
export function openMention({ people, route }: App, username: string): void {
  const at = route.peek()
  const name = username.toLowerCase()
  const person = [...people.known.peek().values()].find((each) => each.username.toLowerCase() === name)
  if (person && 'conversation_id' in at)
    shownProfile.value = { user_id: person.user_id, conversation_id: at.conversation_id }
}
