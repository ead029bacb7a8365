// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { CallOptions } from '../client/call-options.ts'
import type { AddedParticipant, ChangedParticipant, ParticipantPage } from './conversations.ts'

/** `client.participants`. */
export interface ParticipantsClient {
  /**
   * Add a participant.
   *
   * Takes a user id, username or email address; requires the role owner or admin. An email address that no user has
   * verified creates an invite instead, which the caller delivers, or with `mail: true` the service. An API key adds
   * no owners.
   *
   * @throws ChatError `not_found`, `forbidden`, `already_participant`, `conflict`, `validation_failed`
   */
  add(
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
        },
    options?: CallOptions,
  ): Promise<AddedParticipant>

  /**
   * Change the role of a participant.
   *
   * Requires the role owner or admin; only an owner can appoint or change owners, and no API key can. The last owner
   * cannot change role.
   *
   * @throws ChatError `not_found`, `forbidden`, `last_owner`, `conflict`, `validation_failed`
   */
  changeRole(
    conversation_id: string,
    user_id: string,
    input: { role: 'owner' | 'admin' | 'member' | 'viewer' },
    options?: CallOptions,
  ): Promise<ChangedParticipant>

  /**
   * List the participants in the order they joined.
   *
   * All participants with their roles and their presence. Continue with `after`.
   *
   * @throws ChatError `not_found`, `invalid_cursor`, `validation_failed`
   */
  list(
    conversation_id: string,
    input?: {
      /** `next_after` of the previous page */
      after?: string | undefined
      /** At most 1000; larger values are lowered to it */
      limit?: number | undefined
    },
    options?: CallOptions,
  ): Promise<ParticipantPage>

  /**
   * Remove a participant, or leave.
   *
   * Requires the role owner or admin, except to remove oneself. Their streams of the conversation end; their
   * messages stay. The last owner cannot leave. An API key removes no owners.
   *
   * @throws ChatError `not_found`, `forbidden`, `last_owner`, `conflict`
   */
  remove(conversation_id: string, user_id: string, options?: CallOptions): Promise<void>
}
