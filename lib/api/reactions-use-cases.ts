// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { Actor } from '../core/actor.ts'
import type { ReactionPage } from './reactions.ts'

/** `chat.reactions`. */
export interface ReactionsUseCases {
  /**
   * Adds the actor's reaction to a message and publishes an event. If it exists, nothing changes.
   *
   * @throws ChatError `validation_failed` for anything but one emoji or a name in colons; `not_found`; `forbidden`
   * for a viewer or a read-only user; `message_deleted`; `conflict` for one emoji more than
   * `limits.reactions_per_message`
   */
  add(actor: Actor, message_id: string, emoji: string): Promise<void>

  /**
   * Removes the actor's reaction, or with `all` those of all users with this emoji, and publishes an event. If there
   * is none, nothing changes.
   *
   * @throws ChatError as `add`; `forbidden` also with `all` unless the actor is owner or admin of the conversation;
   * `validation_failed`, `not_found`, `message_deleted`, `validation_failed`
   */
  remove(
    actor: Actor,
    message_id: string,
    emoji: string,
    input?: {
      /** Those of all users; for owners and admins of the conversation */
      all?: boolean | undefined
    },
  ): Promise<void>

  /**
   * Removes the reactions of all users with one emoji, for an owner or admin of the conversation.
   *
   * @throws ChatError as `remove` with `all`; `validation_failed`, `not_found`, `forbidden`, `message_deleted`
   */
  clear(actor: Actor, message_id: string, emoji: string): Promise<void>

  /**
   * A page of the reactions to a message, oldest first, of all emoji or of one.
   *
   * @throws ChatError `not_found`; `message_deleted`; `invalid_cursor`; `validation_failed`
   */
  list(
    actor: Actor,
    message_id: string,
    input?: {
      /** Only the reactions with this emoji */
      emoji?: string | undefined
      /** `next_after` of the previous page */
      after?: string | undefined
      /** At most 200; larger values are lowered to it */
      limit?: number | undefined
    },
  ): Promise<ReactionPage>
}
