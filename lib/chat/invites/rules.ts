import { administers } from '../../accounts/users/rules.ts'
import { mayWrite, splitRoles } from '../../core/actor.ts'
import type { ErrorCode } from '../../core/errors.ts'
import { canManage } from '../conversations/rules.ts'
import { ParticipantRole } from '../conversations/schema.ts'

/** What decides whether an invite can be accepted. */
export interface InviteState {
  role: ParticipantRole
  revoked_at: number | null
  expires_at: number
  uses: number
  max_uses: number
}

/** The present rights of the user who made an invite: in the service, and in the conversation. */
export interface Maker {
  roles: string
  disabled_at: number | null
  /** `null` for a user who no longer takes part. */
  role: ParticipantRole | null
}

/** Whose rights an invite has: those of its maker, of the operator, or of an account that no longer exists. */
export type Issuer = Maker | 'operator' | undefined

/** Why an invite cannot be accepted at `now`, or `undefined` when it can. */
export function refusalOf(invite: InviteState, issuer: Issuer, now: number): ErrorCode | undefined {
  if (invite.revoked_at !== null || !mayGive(issuer, invite.role)) return 'invite_revoked'
  if (invite.expires_at < now) return 'invite_expired'
  return invite.uses >= invite.max_uses ? 'invite_used' : undefined
}

function mayGive(issuer: Issuer, role: ParticipantRole): boolean {
  if (issuer === 'operator') return true
  if (!issuer || issuer.role === null || issuer.disabled_at !== null) return false
  return mayWrite(splitRoles(issuer.roles)) && canManage(issuer.role, role)
}

/** The roles that a participant with this role may not give. */
export function rolesBeyond(role: ParticipantRole): ParticipantRole[] {
  return ParticipantRole.options.filter((other) => !canManage(role, other))
}

/** Who must have made an invite for it to sign a newcomer up. */
export type SignupBy = 'admins' | 'owners' | 'operators'

/**
 * Whether an invite of this issuer signs newcomers up. The operators of the service are the command line and its
 * administrators; what they make counts wherever an owner's would.
 */
export function signsUp(issuer: Issuer, signupBy: SignupBy): boolean {
  if (issuer === 'operator') return true
  if (!issuer) return false
  if (administers(issuer) || signupBy === 'admins') return true
  return signupBy === 'owners' && issuer.role === 'owner'
}

/** Sign-ups with an address that has an account, for one invite in {@link REFUSALS_SECONDS}; then it signs nobody up. */
const MAX_REFUSALS = 5
const REFUSALS_SECONDS = 3600

/** In microseconds. */
const SECOND = 1_000_000

/** The sign-ups of an invite that were refused because the address has an account, counted from the first one. */
export interface Refusals {
  refusals: number
  refused_since: number
}

/** How long an invite signs nobody up from `now` on; 0 when it does. */
export function signupPauseSeconds({ refusals, refused_since }: Refusals, now: number): number {
  if (refusals < MAX_REFUSALS || !counts(refused_since, now)) return 0
  return Math.ceil((refused_since - now) / SECOND) + REFUSALS_SECONDS
}

/** The count with one more refusal. */
export function withRefusal({ refusals, refused_since }: Refusals, now: number): Refusals {
  return counts(refused_since, now) ? { refusals: refusals + 1, refused_since } : { refusals: 1, refused_since: now }
}

/** An instant in the future was written before a clock stepped back. */
function counts(refusedSince: number, now: number): boolean {
  return refusedSince <= now && now < refusedSince + REFUSALS_SECONDS * SECOND
}
