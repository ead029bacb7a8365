// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { CallOptions } from '../client/call-options.ts'

/** `client.reactions`. */
export interface ReactionsClient {
  /**
   * React to a message.
   *
   * Allowed for participants who may post. If the reaction exists, nothing changes. U+FE0F and U+FE0E are ignored:
   * all spellings of ❤️ are one. A message has reactions with at most `limits.reactions_per_message` (32) emoji
   * (`conflict`).
   *
   * @throws ChatError `validation_failed`, `not_found`, `forbidden`, `message_deleted`, `conflict`
   */
  add(message_id: string, emoji: string, options?: CallOptions): Promise<void>

  /**
   * List the reactions to a message, oldest first.
   *
   * One entry for each user and emoji. Continue with `after`.
   *
   * @throws ChatError `not_found`, `message_deleted`, `invalid_cursor`, `validation_failed`
   */
  list(
    message_id: string,
    input?: {
      /** Only the reactions with this emoji */
      emoji?: string | undefined
      /** `next_after` of the previous page */
      after?: string | undefined
      /** At most 200; larger values are lowered to it */
      limit?: number | undefined
    },
    options?: CallOptions,
  ): Promise<ReactionPage>

  /**
   * Remove your reaction from a message.
   *
   * If there is none, nothing changes. With `all=true`, owners and admins of the conversation remove those of all
   * users with this emoji.
   *
   * @throws ChatError `validation_failed`, `not_found`, `forbidden`, `message_deleted`
   */
  remove(
    message_id: string,
    emoji: string,
    input?: {
      /** Those of all users; for owners and admins of the conversation */
      all?: boolean | undefined
    },
    options?: CallOptions,
  ): Promise<void>
}

/** A page of the reactions to a message, oldest first. */
export interface ReactionPage {
  reactions: ReactionOfUser[]
  next_after?: string
}

/** The reaction of one user. */
export interface ReactionOfUser {
  emoji: string
  user_id: string
  at: string
}
