import { ChatError } from '../../core/errors.ts'
import type { ParticipantRole } from '../conversations/schema.ts'

const RANK: Record<ParticipantRole, number> = { owner: 3, admin: 2, member: 1, viewer: 0 }

/** Whether a participant may post. */
export function canPost(role: ParticipantRole): boolean {
  return RANK[role] >= RANK.member
}

/** Whether `role` may add, remove or change participants with the role `other`, and assign it: an admin only below owner. */
export function canManage(role: ParticipantRole, other: ParticipantRole): boolean {
  return role === 'owner' || (role === 'admin' && other !== 'owner')
}

/** Whether a participant may delete and restore the messages of others. */
export function canModerate(role: ParticipantRole): boolean {
  return RANK[role] >= RANK.admin
}

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
