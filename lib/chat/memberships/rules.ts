import { ChatError } from '../../core/errors.ts'

/** What identifies the direct conversation of two people, in either order; or of one with themselves. */
export function toPairKey(one: string, other: string): string {
  return one < other ? `${one}:${other}` : `${other}:${one}`
}

/**
 * Refuses a change of a direct conversation that would make it something else.
 *
 * @throws ChatError `conflict`
 */
export function refuseDirect({ is_direct }: { is_direct: number }, what: string): void {
  if (is_direct === 1) throw new ChatError('conflict', { message: `A direct conversation stays as it is: ${what}.` })
}

/** Why nothing can be added to a direct conversation. */
export const CLOSED = { message: 'The other person of this direct conversation has no active account.' }

/** Why a conversation does not get a ref. */
export const REF_TAKEN = { message: 'Another conversation has this ref.' }
