// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { Actor } from '../core/actor.ts'
import type { AuditPage, NamedAuditPage } from './audit.ts'

/** `chat.audit`. */
export interface AuditUseCases {
  /**
   * A page of the audit log, newest first. With a filter it may have fewer entries than `limit`, even none, and
   * still a `next_after`: the position up to which it has searched.
   *
   * @throws ChatError `forbidden`; `validation_failed`
   */
  list(
    actor: Actor,
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
  ): Promise<AuditPage>

  /**
   * A page of the audit log like `list`, with the titles and the names of keys that the entries keep.
   *
   * @throws ChatError `forbidden` unless the actor is the operator; `validation_failed`
   */
  listNamed(
    actor: Actor,
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
  ): Promise<NamedAuditPage>
}
