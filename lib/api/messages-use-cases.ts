// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { Actor } from '../core/actor.ts'
import type { MentionsInput, Message, PostedMessage, Revisions } from './messages.ts'

/** `chat.messages`. */
export interface MessagesUseCases {
  /**
   * Starts a thread in a conversation and publishes an event.
   *
   * @throws ChatError `not_found`; `forbidden` for a viewer or a read-only user; `idempotency_mismatch`; `conflict`
   * for `mentions.all` in too large a conversation; `not_found`, `attachment_not_ready`, `attachment_refused` for a
   * file; for a question to the assistant `rate_limited` at the user's limit of answers in progress, `unavailable`
   * at the service's limit and while the service stops; `validation_failed`
   */
  postRoot(
    actor: Actor,
    conversation_id: string,
    input: {
      /**
       * At most `limits.message_bytes` of UTF-8 (65,536), with at least one visible character; stored byte for byte.
       * With files it may be empty
       */
      content: string
      /** With `assistant`, the assistant writes the message; `content` is then the question, without files */
      role?: 'user' | 'assistant' | undefined
      /**
       * A JSON object of the application, of at most 4096 bytes; {} is none. Numbers are at most 2^53 - 1 from zero:
       * others would be stored as another number
       */
      metadata?: Record<string, unknown> | undefined
      /** Without it, `@username` and `@all` are searched for in the text */
      mentions?: MentionsInput | undefined
      /** Files that the caller has uploaded into this conversation; with one, `content` may be empty */
      attachment_ids?: string[] | undefined
      /** The same post with the same key is created once, however often it is sent within a day */
      idempotency_key?: string | undefined
    },
  ): Promise<PostedMessage>

  /**
   * Adds a reply under a message and publishes an event.
   *
   * @throws ChatError `not_found` for a parent outside of the actor's conversations; `forbidden` for a viewer or a
   * read-only user; `message_deleted` for a deleted parent; `thread_too_deep`; `idempotency_mismatch`; for a
   * question to the assistant `rate_limited`, `unavailable` as `postRoot`; `conflict`, `attachment_not_ready`,
   * `attachment_refused`, `validation_failed`
   */
  reply(
    actor: Actor,
    parent_id: string,
    input: {
      /**
       * At most `limits.message_bytes` of UTF-8 (65,536), with at least one visible character; stored byte for byte.
       * With files it may be empty
       */
      content: string
      /** With `assistant`, the assistant writes the message; `content` is then the question, without files */
      role?: 'user' | 'assistant' | undefined
      /**
       * A JSON object of the application, of at most 4096 bytes; {} is none. Numbers are at most 2^53 - 1 from zero:
       * others would be stored as another number
       */
      metadata?: Record<string, unknown> | undefined
      /** Without it, `@username` and `@all` are searched for in the text */
      mentions?: MentionsInput | undefined
      /** Files that the caller has uploaded into this conversation; with one, `content` may be empty */
      attachment_ids?: string[] | undefined
      /** The same post with the same key is created once, however often it is sent within a day */
      idempotency_key?: string | undefined
    },
  ): Promise<PostedMessage>

  /**
   * Read a message.
   *
   * @throws ChatError `not_found`
   */
  get(actor: Actor, message_id: string): Promise<Message>

  /**
   * A page of the earlier texts of a message, oldest first; empty for a deleted message.
   *
   * @throws ChatError `not_found`; `validation_failed`
   */
  listRevisions(
    actor: Actor,
    message_id: string,
    input?: {
      /** Only texts replaced later */
      after?: string | undefined
      /** At most 200; larger values are lowered to it */
      limit?: number | undefined
    },
  ): Promise<Revisions>

  /**
   * Replaces the text of the actor's own message, and the metadata if it is given; the previous text is kept as a
   * revision. The users that the message mentions are decided again. With `attachment_ids` the message has these
   * files.
   *
   * @throws ChatError `not_found`, also for a file; `attachment_not_ready`, `attachment_refused`; `forbidden` for
   * another's message, a viewer or a read-only user; `message_deleted`; `message_streaming` for an answer in
   * progress; `conflict` for `mentions.all` in too large a conversation, and in a direct conversation whose other
   * person has no active account; `validation_failed`
   */
  edit(
    actor: Actor,
    message_id: string,
    input: {
      /**
       * At most `limits.message_bytes` of UTF-8 (65,536), with at least one visible character; stored byte for byte.
       * With files it may be empty
       */
      content: string
      reason?: string | undefined
      /**
       * A JSON object of the application, of at most 4096 bytes; {} is none. Numbers are at most 2^53 - 1 from zero:
       * others would be stored as another number
       */
      metadata?: Record<string, unknown> | undefined
      /** Without it, `@username` and `@all` are searched for in the text */
      mentions?: MentionsInput | undefined
      /** The new list of all files; left out, the message keeps those it has */
      attachment_ids?: string[] | undefined
    },
  ): Promise<void>

  /**
   * Deletes a message: its text can no longer be read, its replies stay. An answer in progress is cancelled.
   *
   * @throws ChatError `not_found`; `forbidden` for a viewer, and for another's message unless the actor is an owner
   * or admin of the conversation; `message_deleted` for a deleted message; `validation_failed`
   */
  remove(actor: Actor, message_id: string, input?: { reason?: string | undefined }): Promise<void>

  /**
   * Restores a deleted message.
   *
   * @throws ChatError `not_found`; `forbidden` unless the actor deleted it, or is owner or admin of the
   * conversation; `message_not_deleted`; `conflict` if the text was erased together with its author
   */
  restore(actor: Actor, message_id: string): Promise<void>
}
