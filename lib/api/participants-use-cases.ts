// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { Actor } from '../core/actor.ts'
import type { AddedParticipant, ChangedParticipant, ParticipantPage } from './conversations.ts'

/** `chat.participants`. */
export interface ParticipantsUseCases {
  /**
   * A page of the participants of a conversation, in the order they joined.
   *
   * @throws ChatError `not_found`; `invalid_cursor`; `validation_failed`
   */
  list(
    actor: Actor,
    conversation_id: string,
    input?: {
      /** `next_after` of the previous page */
      after?: string | undefined
      /** At most 1000; larger values are lowered to it */
      limit?: number | undefined
    },
  ): Promise<ParticipantPage>

  /**
   * Adds a user to a conversation and publishes an event. For an email address that no user has verified, it creates
   * an invite instead. A host names its people by `subject`: `chat.users.ensure` makes them known first.
   *
   * @throws ChatError `not_found` for the conversation or the user; `forbidden` below admin, to add an owner without
   * being one or with an API key, and with one to invite an admin; `already_participant`; `conflict` in a direct
   * conversation, for a third participant with `is_group: false`, and to mail an invite if the service sends no
   * mail; `rate_limited`; `validation_failed`
   */
  add(
    actor: Actor,
    conversation_id: string,
    input:
      | { user_id: string; role?: 'owner' | 'admin' | 'member' | 'viewer' | undefined }
      | {
          /** Unique without regard to case; no control, invisible, bidirectional or variation characters, no outer spaces */
          username: string
          role?: 'owner' | 'admin' | 'member' | 'viewer' | undefined
        }
      | {
          /** An email address; outer spaces are trimmed */
          email: string
          role?: 'owner' | 'admin' | 'member' | 'viewer' | undefined
          /** Mail the token of an invite, and do not return it */
          mail?: boolean | undefined
        }
      | {
          /** The host's own id of a person */
          subject: string
          role?: 'owner' | 'admin' | 'member' | 'viewer' | undefined
        },
  ): Promise<AddedParticipant>

  /**
   * Changes the role of a participant and publishes an event.
   *
   * @throws ChatError `not_found`, also for a user who is not a participant; `forbidden` below admin, and to make or
   * change an owner without being one or with an API key; `last_owner`; `conflict` in a direct conversation;
   * `validation_failed`
   */
  changeRole(
    actor: Actor,
    conversation_id: string,
    user_id: string,
    input: { role: 'owner' | 'admin' | 'member' | 'viewer' },
  ): Promise<ChangedParticipant>

  /**
   * Removes a participant, whose streams of the conversation close. Every participant may leave.
   *
   * @throws ChatError `not_found`, also for a user who is not a participant; `forbidden`, also for an owner with an
   * API key; `last_owner`; `conflict` in a direct conversation, which can be archived instead
   */
  remove(actor: Actor, conversation_id: string, user_id: string): Promise<void>
}
