import type { ParticipantRole } from './schema.ts'

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
