import * as v from 'valibot'
import { AnyInstant, Id, Instant, Limit } from '../../core/schema.ts'

/** Every audited action: all changes of access and by administrators. */
export const AuditAct = v.picklist([
  'setup.done',
  'login.succeeded',
  'login.failed',
  'login.throttled',
  'logout',
  'password.changed',
  'password.reset_requested',
  'password.reset',
  'email.verification_sent',
  'email.verified',
  'email.change_requested',
  'email.changed',
  'email.change_undone',
  'account.taken_over',
  'profile.changed',
  'session.revoked',
  'session.ended',
  'session.replayed',
  'key.created',
  'key.revoked',
  'grant.created',
  'grant.revoked',
  'grant.replayed',
  'oauth_client.created',
  'oauth_client.deleted',
  'server_key.created',
  'server_key.revoked',
  'hook.created',
  'hook.deleted',
  'webhook.created',
  'webhook.changed',
  'webhook.verified',
  'webhook.rotated',
  'webhook.replayed',
  'webhook.deleted',
  'oauth.signed_in',
  'oauth.signed_up',
  'oauth.linked',
  'oauth.failed',
  'invite.created',
  'invite.revoked',
  'invite.accepted',
  'identity.removed',
  'invite.signed_up',
  'newcomer.invited',
  'newcomer.revoked',
  'newcomer.signed_up',
  'user.created',
  'user.changed',
  'user.unlocked',
  'user.disabled',
  'user.enabled',
  'user.erased',
  'user.merged',
  'user.locked_down',
  'user.photo_removed',
  'user.quota_set',
  'user.quota_cleared',
  'conversation.deleted',
  'conversation.imported',
  'conversation.renamed',
  'participant.added',
  'participant.removed',
  'participant.role_changed',
  'message.deleted',
  'reactions.cleared',
  'conversation.policy_changed',
  'conversation.layout_changed',
  'limit_profile.created',
  'limit_profile.changed',
  'limit_profile.deleted',
  'limit_assignment.created',
  'limit_assignment.deleted',
  'limits.reset',
  'tool.called',
  'approval.requested',
  'approval.decided',
  'clock.trusted',
  'secret.rotated',
  'doctor.probed',
])
export type AuditAct = v.InferOutput<typeof AuditAct>

// Each by name: some client generators do not support a list of types.
export const AuditText = v.string()
export const AuditNumber = v.number()
export const AuditFlag = v.boolean()
export const AuditTexts = v.array(v.string())

/** The details of an action, by name. */
export const AuditDetail = v.record(v.string(), v.union([AuditText, AuditNumber, AuditFlag, AuditTexts]))

/** One action, as an administrator reads it. */
export const AuditRecord = v.object({
  id: Id,
  at: Instant,
  act: AuditAct,
  actor_id: v.optional(v.pipe(Id, v.description('The acting user; missing for the command line'))),
  subject_id: v.optional(v.pipe(Id, v.description('The affected user or resource'))),
  conversation_id: v.optional(v.pipe(Id, v.description('The conversation in which it happened'))),
  ip: v.optional(v.pipe(v.string(), v.description('The IP address of the caller'))),
  detail: v.optional(AuditDetail),
})
export type AuditRecord = v.InferOutput<typeof AuditRecord>

/** One action, as the operator reads it. */
export const NamedAuditRecord = v.object({
  ...AuditRecord.entries,
  names: v.optional(
    v.pipe(
      v.record(v.string(), v.string()),
      v.description('What had a name then: `title`, `old_title` of a conversation, `key` of an API key'),
    ),
  ),
})
export type NamedAuditRecord = v.InferOutput<typeof NamedAuditRecord>

export const AuditQuery = v.object({
  after: v.optional(v.pipe(Id, v.description('`next_after` of the previous page'))),
  limit: Limit(50, 200),
  act: v.optional(v.pipe(AuditAct, v.description('Only this action'))),
  user_id: v.optional(v.pipe(Id, v.description('Only actions by or about this user'))),
  subject_id: v.optional(v.pipe(Id, v.description('Only actions about this user or resource'))),
  conversation_id: v.optional(v.pipe(Id, v.description('Only actions in this conversation'))),
  since: v.optional(v.pipe(AnyInstant, v.description('Only actions at this instant or later'))),
  until: v.optional(v.pipe(AnyInstant, v.description('Only actions before this instant'))),
})
export type AuditQuery = v.InferOutput<typeof AuditQuery>

/** A page of the audit log, newest first. With a filter it may have fewer entries than `limit` although more follow. */
export const AuditPage = v.object({ entries: v.array(AuditRecord), next_after: v.optional(Id) })
export type AuditPage = v.InferOutput<typeof AuditPage>

/** A page of the audit log with titles and names of keys, newest first. */
export const NamedAuditPage = v.object({ entries: v.array(NamedAuditRecord), next_after: v.optional(Id) })
export type NamedAuditPage = v.InferOutput<typeof NamedAuditPage>
