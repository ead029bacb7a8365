import type { Actor, Role } from '../../context.ts'
import type { ParticipantRole } from './schema.ts'

const RANK: Record<ParticipantRole, number> = { owner: 3, admin: 2, member: 1, viewer: 0 }

/** Whether a user of the service may change anything at all: `read_only` alone may not. */
export function mayWrite(roles: readonly Role[]): boolean {
  return roles.some((role) => role !== 'read_only')
}

/** Whether somebody is the person at the machine, who takes part in nothing and yet lets people in. */
export function isOperator({ user_id, roles }: Pick<Actor, 'user_id' | 'roles'>): boolean {
  return user_id === '' && roles.includes('admin')
}

/** Whether a participant may post. */
export function canPost(role: ParticipantRole): boolean {
  return RANK[role] >= RANK.member
}

/** Whether `role` may add, remove or change a participant who has, or would get, `other`: an admin only below owner. */
export function canManage(role: ParticipantRole, other: ParticipantRole): boolean {
  return role === 'owner' || (role === 'admin' && other !== 'owner')
}

/** Whether a participant may delete and restore what others wrote. */
export function canModerate(role: ParticipantRole): boolean {
  return RANK[role] >= RANK.admin
}
