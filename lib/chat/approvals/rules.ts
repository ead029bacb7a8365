import { type Access, may, mayWrite } from '../../core/access.ts'
import { type Actor, isProgram } from '../../core/actor.ts'
import type { ErrorReason } from '../../core/errors.ts'
import type { Micros } from '../../storage/sql.ts'
import type { ApprovalRow, Standing } from './store.ts'

/** A participant who decides. */
export interface Decider extends Standing {
  actor: Pick<Actor, 'user_id' | 'roles' | 'is_bot' | 'system'>
}

type Rule = Pick<ApprovalRow, 'approvers' | 'not_asker' | 'user_id'>

/** Whether a participant may approve a call. */
export function mayApprove(access: Access, { approvers, not_asker, user_id }: Rule, decider: Decider): boolean {
  const { actor } = decider
  if (isProgram(actor as Actor) || !mayWrite(access, actor.roles)) return false
  const isAsker = actor.user_id === user_id
  if (isAsker && not_asker) return false
  if (approvers === 'asker') return isAsker
  return mayIn(access, decider, approvers === 'admins' ? 'manage' : 'post')
}

/** Whether a participant may deny a call: those who may approve it, and always those who manage the conversation. */
export function mayDeny(access: Access, rule: Rule, decider: Decider): boolean {
  return mayApprove(access, rule, decider) || mayIn(access, decider, 'manage')
}

function mayIn(access: Access, { actor, ...place }: Decider, act: 'manage' | 'post'): boolean {
  if (isProgram(actor as Actor)) return false
  return may(access, { ...place, actor: actor as Actor }, act)
}

/** The roles of participants that manage a conversation, and may deny every call there. */
export const rolesThatManage = ({ participant }: Access): string[] =>
  [...participant].flatMap(([role, rights]) => (rights.has('manage') ? role : []))

/** Whether a participant may still decide on a call. */
export function mayDecide(access: Access, row: Rule & Pick<ApprovalRow, 'approval'>, decider: Decider): boolean {
  return row.approval === 'waiting' && mayDeny(access, row, decider)
}

/** Why a key or a program decides on nothing; `undefined` if the actor may. */
export function refusedKind(actor: Actor, { by_keys }: Pick<ApprovalRow, 'by_keys'>): ErrorReason | undefined {
  if (isProgram(actor)) return 'role'
  const isKey = (actor.key_id !== undefined && actor.server_key === undefined) || actor.by_mcp === true
  return isKey && !by_keys ? 'key' : undefined
}

/** Whether a call that waits has waited for too long. */
export const hasExpired = ({ approval, expires_at }: Pick<ApprovalRow, 'approval' | 'expires_at'>, now: Micros) =>
  approval === 'waiting' && expires_at <= now
