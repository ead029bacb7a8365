// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { CallOptions } from '../client/call-options.ts'
import type { Actor } from '../core/actor.ts'
import type { Usage } from './answers.ts'

/** `chat.messages`. */
export interface MessagesUseCases {
  /**
   * Starts a thread in a conversation and publishes an event.
   *
   * @throws ChatError `not_found`; `forbidden` for a viewer or a read-only user; `idempotency_mismatch`; for a
   * question to the assistant `rate_limited` at the user's limit of answers in progress, `unavailable` at the
   * service's limit and while the service stops; `validation_failed`
   */
  postRoot(
    actor: Actor,
    conversation_id: string,
    input: {
      /** At most `limits.message_bytes` of UTF-8 (65,536), with at least one visible character; stored byte for byte */
      content: string
      /** With `assistant`, the assistant writes the message; `content` is then the question */
      role?: 'user' | 'assistant' | undefined
      /** The same post with the same key is created once, however often it is sent within a day */
      idempotency_key?: string | undefined
    },
  ): Promise<PostedMessage>

  /**
   * Adds a reply under a message and publishes an event.
   *
   * @throws ChatError `not_found` for a parent outside of the actor's conversations; `forbidden` for a viewer or a
   * read-only user; `message_deleted` for a deleted parent; `thread_too_deep`; `idempotency_mismatch`; for a
   * question to the assistant `rate_limited`, `unavailable` as `postRoot`; `validation_failed`
   */
  reply(
    actor: Actor,
    parent_id: string,
    input: {
      /** At most `limits.message_bytes` of UTF-8 (65,536), with at least one visible character; stored byte for byte */
      content: string
      /** With `assistant`, the assistant writes the message; `content` is then the question */
      role?: 'user' | 'assistant' | undefined
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
   * Replaces the text of the actor's own message; the previous text is kept as a revision.
   *
   * @throws ChatError `not_found`; `forbidden` for another's message, a viewer or a read-only user;
   * `message_deleted`; `message_streaming` for an answer in progress; `validation_failed`
   */
  edit(
    actor: Actor,
    message_id: string,
    input: {
      /** At most `limits.message_bytes` of UTF-8 (65,536), with at least one visible character; stored byte for byte */
      content: string
      reason?: string | undefined
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

/** `client.messages`. */
export interface MessagesClient {
  /**
   * Edit a message.
   *
   * Allowed for its author. The previous text is kept as a revision.
   *
   * @throws ChatError `not_found`, `forbidden`, `message_deleted`, `message_streaming`, `validation_failed`
   */
  edit(
    message_id: string,
    input: {
      /** At most `limits.message_bytes` of UTF-8 (65,536), with at least one visible character; stored byte for byte */
      content: string
      reason?: string | undefined
    },
    options?: CallOptions,
  ): Promise<void>

  /**
   * Read a message.
   *
   * The current state. A deleted message has no text.
   *
   * @throws ChatError `not_found`
   */
  get(message_id: string, options?: CallOptions): Promise<Message>

  /**
   * List the revisions of a message, oldest first.
   *
   * The last `limits.revisions_per_message` (100) previous texts. Empty for a message that was never edited, and for
   * a deleted one. Continue with `after`.
   *
   * @throws ChatError `not_found`, `validation_failed`
   */
  listRevisions(
    message_id: string,
    input?: {
      /** Only texts replaced later */
      after?: string | undefined
      /** At most 200; larger values are lowered to it */
      limit?: number | undefined
    },
    options?: CallOptions,
  ): Promise<Revisions>

  /**
   * Start a thread.
   *
   * With the role `assistant`, the assistant writes the message: `content` is then the question, and the answer
   * streams into the message.
   *
   * @throws ChatError `not_found`, `forbidden`, `idempotency_mismatch`, `validation_failed`
   */
  postRoot(
    conversation_id: string,
    input: {
      /** At most `limits.message_bytes` of UTF-8 (65,536), with at least one visible character; stored byte for byte */
      content: string
      /** With `assistant`, the assistant writes the message; `content` is then the question */
      role?: 'user' | 'assistant' | undefined
    },
    options?: CallOptions,
  ): Promise<PostedMessage>

  /**
   * Delete a message; its replies stay.
   *
   * Allowed for its author, unless now a viewer, and for owners and admins of the conversation. It stays in the tree
   * without its text and can be restored; users who may restore it see the reason as `delete_reason`.
   *
   * @throws ChatError `not_found`, `forbidden`, `message_deleted`, `validation_failed`
   */
  remove(message_id: string, input?: { reason?: string | undefined }, options?: CallOptions): Promise<void>

  /**
   * Reply to a message.
   *
   * Replies nest down to `limits.max_depth`. With the role `assistant`, the assistant writes the reply.
   *
   * @throws ChatError `not_found`, `forbidden`, `message_deleted`, `thread_too_deep`, `idempotency_mismatch`,
   * `validation_failed`
   */
  reply(
    parent_id: string,
    input: {
      /** At most `limits.message_bytes` of UTF-8 (65,536), with at least one visible character; stored byte for byte */
      content: string
      /** With `assistant`, the assistant writes the message; `content` is then the question */
      role?: 'user' | 'assistant' | undefined
    },
    options?: CallOptions,
  ): Promise<PostedMessage>

  /**
   * Restore a deleted message.
   *
   * Allowed for the user who deleted it, and for owners and admins of the conversation. A text erased with its
   * author cannot be restored (`conflict`).
   *
   * @throws ChatError `not_found`, `forbidden`, `message_not_deleted`, `conflict`
   */
  restore(message_id: string, options?: CallOptions): Promise<void>
}

/** A message as all participants of its conversation read it. */
export interface Message {
  id: string
  conversation_id: string
  root_id: string
  parent_id?: string
  author_user_id?: string
  role: 'user' | 'assistant' | 'system'
  content: string
  /** Opaque; in byte order it is the depth-first order of the thread */
  path: string
  depth: number
  status: 'streaming' | 'complete' | 'cancelled' | 'failed' | 'interrupted'
  created_at: string
  edited_at?: string
  deleted_at?: string
  /** Reason of the deletion, only in reads by users who may restore the message, and in no event */
  delete_reason?: string
  /** The question to the assistant */
  prompt?: string
  /** The user who asked the assistant; counts as its author */
  requested_by?: string
  /** Why an answer ended: `stop`, `length`, … */
  finish_reason?: string
  usage?: Usage
}

/** The response to a post. */
export interface PostedMessage {
  message_id: string
  root_id: string
  conversation_id: string
  parent_id?: string
  depth: number
  message: Message
  idempotency_replayed?: 'true'
}

/** A page of the earlier texts of a message, oldest first; empty for a deleted message. */
export interface Revisions {
  revisions: Revision[]
  next_after?: string
}

/** An earlier text of a message. */
export interface Revision {
  content: string
  replaced_at: string
  reason?: string
}
