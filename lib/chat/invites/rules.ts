import { administers } from '../../accounts/users/rules.ts'
import { type Access, hasEveryRight, hasRight, may, mayGive, type ParticipantRole } from '../../core/access.ts'
import { splitRoles } from '../../core/actor.ts'
import type { ErrorCode } from '../../core/errors.ts'
import { SECOND } from '../../core/units.ts'

/** The state that decides whether an invite can be accepted. */
export interface InviteState {
  role: ParticipantRole
  revoked_at: number | null
  expires_at: number
  uses: number
  max_uses: number
}

/** The current rights of the user who created an invite: in the service, and in the conversation. */
export interface Maker {
  roles: string
  disabled_at: number | null
  /** `null` for a user who is no longer a participant. */
  role: ParticipantRole | null
  /** The policy of the conversation, as it is stored. */
  policy: string | null
}

/** The issuer of an invite: its creator, the operator, or an account that no longer exists. */
export type Issuer = Maker | 'operator' | undefined

/** Why an invite cannot be accepted at `now`, or `undefined` if it can. */
export function closedReason(access: Access, invite: InviteState, issuer: Issuer, now: number): ErrorCode | undefined {
  if (invite.revoked_at !== null || !issuerMayGive(access, issuer, invite.role)) return 'invite_revoked'
  if (invite.expires_at < now) return 'invite_expired'
  return invite.uses >= invite.max_uses ? 'invite_used' : undefined
}

function issuerMayGive(access: Access, issuer: Issuer, role: ParticipantRole): boolean {
  if (issuer === 'operator') return true
  if (!issuer || issuer.role === null || issuer.disabled_at !== null) return false
  const { role: ofIssuer, policy } = issuer
  const actor = { user_id: '', roles: splitRoles(issuer.roles) }
  return may(access, { actor, role: ofIssuer, policy }, 'invite') && hasEveryRight(access, ofIssuer, role)
}

/**
 * Whether a sign-up with this invite verifies its address. The maker of an invite sees the token and could sign up with
 * any address; the operator may vouch for one, and of a mailed invite only the mailbox gets the token.
 */
export function provesAddress(invite: {
  email_key: string | null
  created_by: string | null
  mailed: number
}): boolean {
  return invite.email_key !== null && (invite.created_by === null || invite.mailed === 1)
}

/** The roles that a participant with this role may not give. */
export function rolesBeyond(access: Access, role: ParticipantRole): string[] {
  return [...access.participant.keys()].filter((other) => !mayGive(access, role, 'invite', other))
}

/** The creators whose invites allow a sign-up. */
export type SignupBy = 'admins' | 'owners' | 'operators'

/**
 * Whether an invite of this issuer allows a sign-up. The operators of the service are the command line and its
 * administrators; their invites count like an owner's.
 */
export function signsUp(access: Access, issuer: Issuer, signupBy: SignupBy): boolean {
  if (issuer === 'operator') return true
  if (!issuer) return false
  if (administers(issuer)) return true
  if (signupBy === 'operators' || issuer.role === null) return false
  return hasRight(access, issuer.role, signupBy === 'owners' ? 'delete' : 'manage')
}

/**
 * After this many sign-ups with an address that has an account, within {@link REFUSALS_SECONDS}, an invite allows no
 * sign-up.
 */
const MAX_REFUSALS = 5
const REFUSALS_SECONDS = 3600

/** The refused sign-ups of an invite whose address has an account, counted from the first one. */
export interface Refusals {
  refusals: number
  refused_since: number
}

/** For how many seconds from `now` on an invite allows no sign-up; 0 if it does. */
export function signupPauseSeconds({ refusals, refused_since }: Refusals, now: number): number {
  if (refusals < MAX_REFUSALS || !counts(refused_since, now)) return 0
  return Math.ceil((refused_since - now) / SECOND) + REFUSALS_SECONDS
}

/** The counter after one more refusal. */
export function withRefusal({ refusals, refused_since }: Refusals, now: number): Refusals {
  return counts(refused_since, now) ? { refusals: refusals + 1, refused_since } : { refusals: 1, refused_since: now }
}

/** An instant in the future was written before a clock stepped back. */
function counts(refusedSince: number, now: number): boolean {
  return refusedSince <= now && now < refusedSince + REFUSALS_SECONDS * SECOND
}
