import type { Actor, Role } from '../context.ts'
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

/** The cursor after a conversation in a list by latest activity. */
export function toCursor({ clock, id }: { clock: number; id: string }): string {
  return `${clock}_${id}`
}

/** What {@link toCursor} made, or `undefined` for anything else. */
export function fromCursor(cursor: string): { clock: number; id: string } | undefined {
  const [, clock, id] = /^(\d{1,16})_([0-9a-f-]{36})$/.exec(cursor) ?? []
  return id === undefined ? undefined : { clock: Number(clock), id }
}
