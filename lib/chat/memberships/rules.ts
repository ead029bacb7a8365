import { ChatError } from '../../core/errors.ts'
import type { JoinPolicy } from '../conversations/schema-settings.ts'

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

/** The number of participants of a conversation that is no group. */
export const PAIR = 2

/** Why a conversation that is no group gets no third participant. */
export const OF_TWO = { message: 'This conversation is between two people.' }

/** Why a conversation does not get a ref. */
export const REF_TAKEN = { message: 'Another conversation has this ref.' }

/**
 * Refuses a private conversation that anyone may join.
 *
 * @param policy as it is stored
 * @throws ChatError `conflict`
 */
export function assertJoinable(visibility: string | null, policy: string | null): void {
  if (visibility === null && joinPolicyOf(policy) === 'anyone')
    throw new ChatError('conflict', { message: 'A private conversation is joined by invite.' })
}

/** How users become participants of a conversation. */
export function joinPolicyOf(policy: string | null): JoinPolicy {
  return (policy === null ? {} : (JSON.parse(policy) as { join?: JoinPolicy })).join ?? 'invite'
}
