// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { CallOptions } from '../client/call-options.ts'

/** `client.audit`. */
export interface AuditAdminClient {
  /**
   * List recorded actions, newest first.
   *
   * With a filter, a page may have few or no entries and still a `next_after`: continue until it is missing.
   *
   * @throws ChatError `validation_failed`
   */
  list(
    input?: {
      /** `next_after` of the previous page */
      after?: string | undefined
      /** At most 200; larger values are lowered to it */
      limit?: number | undefined
      /** Only this action */
      act?:
        | 'setup.done'
        | 'login.succeeded'
        | 'login.failed'
        | 'login.throttled'
        | 'logout'
        | 'password.changed'
        | 'password.reset_requested'
        | 'password.reset'
        | 'email.verification_sent'
        | 'email.verified'
        | 'email.change_requested'
        | 'email.changed'
        | 'email.change_undone'
        | 'account.taken_over'
        | 'profile.changed'
        | 'session.revoked'
        | 'session.ended'
        | 'session.replayed'
        | 'key.created'
        | 'key.revoked'
        | 'oauth.signed_in'
        | 'oauth.signed_up'
        | 'oauth.linked'
        | 'oauth.failed'
        | 'invite.created'
        | 'invite.revoked'
        | 'invite.accepted'
        | 'identity.removed'
        | 'invite.signed_up'
        | 'newcomer.invited'
        | 'newcomer.revoked'
        | 'newcomer.signed_up'
        | 'user.created'
        | 'user.changed'
        | 'user.unlocked'
        | 'user.disabled'
        | 'user.enabled'
        | 'user.erased'
        | 'user.locked_down'
        | 'conversation.deleted'
        | 'conversation.imported'
        | 'conversation.renamed'
        | 'participant.added'
        | 'participant.removed'
        | 'participant.role_changed'
        | 'message.deleted'
        | 'reactions.cleared'
        | 'conversation.policy_changed'
        | 'limit_profile.created'
        | 'limit_profile.changed'
        | 'limit_profile.deleted'
        | 'limit_assignment.created'
        | 'limit_assignment.deleted'
        | 'limits.reset'
        | 'clock.trusted'
        | 'doctor.probed'
        | undefined
      /** Only actions by or about this user */
      user_id?: string | undefined
      /** Only actions about this user or resource */
      subject_id?: string | undefined
      /** Only actions in this conversation */
      conversation_id?: string | undefined
      /** Only actions at this instant or later */
      since?: string | undefined
      /** Only actions before this instant */
      until?: string | undefined
    },
    options?: CallOptions,
  ): Promise<AuditPage>
}

/**
 * A page of the audit log, newest first. With a filter it may have fewer entries than `limit` although more
 * follow.
 */
export interface AuditPage {
  entries: AuditRecord[]
  next_after?: string
}

/** One action, as an administrator reads it. */
export interface AuditRecord {
  id: string
  at: string
  act:
    | 'setup.done'
    | 'login.succeeded'
    | 'login.failed'
    | 'login.throttled'
    | 'logout'
    | 'password.changed'
    | 'password.reset_requested'
    | 'password.reset'
    | 'email.verification_sent'
    | 'email.verified'
    | 'email.change_requested'
    | 'email.changed'
    | 'email.change_undone'
    | 'account.taken_over'
    | 'profile.changed'
    | 'session.revoked'
    | 'session.ended'
    | 'session.replayed'
    | 'key.created'
    | 'key.revoked'
    | 'oauth.signed_in'
    | 'oauth.signed_up'
    | 'oauth.linked'
    | 'oauth.failed'
    | 'invite.created'
    | 'invite.revoked'
    | 'invite.accepted'
    | 'identity.removed'
    | 'invite.signed_up'
    | 'newcomer.invited'
    | 'newcomer.revoked'
    | 'newcomer.signed_up'
    | 'user.created'
    | 'user.changed'
    | 'user.unlocked'
    | 'user.disabled'
    | 'user.enabled'
    | 'user.erased'
    | 'user.locked_down'
    | 'conversation.deleted'
    | 'conversation.imported'
    | 'conversation.renamed'
    | 'participant.added'
    | 'participant.removed'
    | 'participant.role_changed'
    | 'message.deleted'
    | 'reactions.cleared'
    | 'conversation.policy_changed'
    | 'limit_profile.created'
    | 'limit_profile.changed'
    | 'limit_profile.deleted'
    | 'limit_assignment.created'
    | 'limit_assignment.deleted'
    | 'limits.reset'
    | 'clock.trusted'
    | 'doctor.probed'
  /** The acting user; missing for the command line */
  actor_id?: string
  /** The affected user or resource */
  subject_id?: string
  /** The conversation in which it happened */
  conversation_id?: string
  /** The IP address of the caller */
  ip?: string
  detail?: Record<string, string | number | boolean | string[]>
}

/** A page of the audit log with titles and names of keys, newest first. */
export interface NamedAuditPage {
  entries: NamedAuditRecord[]
  next_after?: string
}

/** One action, as the operator reads it. */
export interface NamedAuditRecord {
  id: string
  at: string
  act:
    | 'setup.done'
    | 'login.succeeded'
    | 'login.failed'
    | 'login.throttled'
    | 'logout'
    | 'password.changed'
    | 'password.reset_requested'
    | 'password.reset'
    | 'email.verification_sent'
    | 'email.verified'
    | 'email.change_requested'
    | 'email.changed'
    | 'email.change_undone'
    | 'account.taken_over'
    | 'profile.changed'
    | 'session.revoked'
    | 'session.ended'
    | 'session.replayed'
    | 'key.created'
    | 'key.revoked'
    | 'oauth.signed_in'
    | 'oauth.signed_up'
    | 'oauth.linked'
    | 'oauth.failed'
    | 'invite.created'
    | 'invite.revoked'
    | 'invite.accepted'
    | 'identity.removed'
    | 'invite.signed_up'
    | 'newcomer.invited'
    | 'newcomer.revoked'
    | 'newcomer.signed_up'
    | 'user.created'
    | 'user.changed'
    | 'user.unlocked'
    | 'user.disabled'
    | 'user.enabled'
    | 'user.erased'
    | 'user.locked_down'
    | 'conversation.deleted'
    | 'conversation.imported'
    | 'conversation.renamed'
    | 'participant.added'
    | 'participant.removed'
    | 'participant.role_changed'
    | 'message.deleted'
    | 'reactions.cleared'
    | 'conversation.policy_changed'
    | 'limit_profile.created'
    | 'limit_profile.changed'
    | 'limit_profile.deleted'
    | 'limit_assignment.created'
    | 'limit_assignment.deleted'
    | 'limits.reset'
    | 'clock.trusted'
    | 'doctor.probed'
  /** The acting user; missing for the command line */
  actor_id?: string
  /** The affected user or resource */
  subject_id?: string
  /** The conversation in which it happened */
  conversation_id?: string
  /** The IP address of the caller */
  ip?: string
  detail?: Record<string, string | number | boolean | string[]>
  /** What had a name then: `title`, `old_title` of a conversation, `key` of an API key */
  names?: Record<string, string>
}
