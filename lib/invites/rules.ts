import type { ErrorCode } from '../errors.ts'

/** What decides whether an invite can be accepted. */
export interface InviteState {
  revoked_at: number | null
  expires_at: number
  uses: number
  max_uses: number
}

/** Why an invite cannot be accepted at `now`, or `undefined` when it can. */
export function refusalOf(invite: InviteState, now: number): ErrorCode | undefined {
  if (invite.revoked_at !== null) return 'invite_revoked'
  if (invite.expires_at < now) return 'invite_expired'
  return invite.uses >= invite.max_uses ? 'invite_used' : undefined
}
