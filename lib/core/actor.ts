import { ChatError } from './errors.ts'

/**
 * Keeps API keys away from what rules over sign-in: who finds one makes no second one of it, and locks nobody out.
 *
 * @throws ChatError `forbidden` for a call that came with a key
 */
export function refuseKeys(actor: { key_id?: string }): void {
  if (actor.key_id !== undefined) throw new ChatError('forbidden', { message: 'An API key may not do this: sign in.' })
}
