import * as v from 'valibot'

/** Everything that is written down about who gets in and who administers. */
export const AuditAct = v.picklist([
  'setup.done',
  'login.succeeded',
  'login.failed',
  'login.throttled',
  'logout',
  'password.changed',
  'password.reset_requested',
  'password.reset',
  'profile.changed',
  'session.revoked',
  'key.created',
  'key.revoked',
  'oauth.signed_in',
  'oauth.signed_up',
  'oauth.linked',
  'oauth.failed',
  'invite.signed_up',
  'user.created',
  'user.changed',
  'user.disabled',
  'user.enabled',
  'user.erased',
  'limit_profile.created',
  'limit_profile.changed',
  'limit_profile.deleted',
  'limit_assignment.created',
  'limit_assignment.deleted',
])
export type AuditAct = v.InferOutput<typeof AuditAct>
