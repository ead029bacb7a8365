// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { CallOptions } from '../client/call-options.ts'
import type { Usage } from './answers.ts'
import type { Attachment } from './attachments.ts'

/** `client.messages`. */
export interface MessagesClient {
  /**
   * Edit a message.
   *
   * Allowed for its author. The previous text is kept as a revision.
   *
   * @throws ChatError `not_found`, `forbidden`, `message_deleted`, `message_streaming`, `conflict`,
   * `attachment_not_ready`, `attachment_refused`, `validation_failed`
   */
  edit(
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
   * @throws ChatError `not_found`, `forbidden`, `conflict`, `idempotency_mismatch`, `attachment_not_ready`,
   * `attachment_refused`, `validation_failed`
   */
  postRoot(
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
   * @throws ChatError `not_found`, `forbidden`, `conflict`, `message_deleted`, `thread_too_deep`,
   * `idempotency_mismatch`, `attachment_not_ready`, `attachment_refused`, `validation_failed`
   */
  reply(
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
  /**
   * A JSON object of the application, of at most 4096 bytes; {} is none. Numbers are at most 2^53 - 1 from zero:
   * others would be stored as another number
   */
  metadata?: Record<string, unknown>
  /** In the order of their first use */
  reactions?: Reaction[]
  /** The caller's own reactions, only in reads: no event has them */
  reacted?: string[]
  pinned?: MessagePin
  mentions?: Mentions
  /** Its files, in their order */
  attachments?: Attachment[]
}

/** The reactions to a message with one emoji, or with both of its spellings. */
export interface Reaction {
  /** As it was first written */
  emoji: string
  count: number
  /** The first 10, in the order they reacted */
  user_ids: string[]
}

/** When a message was pinned, and by which user, unless that user is erased. */
export interface MessagePin {
  by?: string
  at: string
}

/** The users that a message mentions. */
export interface Mentions {
  /** In the order of the ids */
  user_ids: string[]
  /** All participants */
  all?: true
}

/** The users that a post mentions, if its text is not to be searched for that. */
export interface MentionsInput {
  /** Users who are no participants are left out */
  user_ids?: string[]
  /** All participants, if the policy of the conversation allows it */
  all?: boolean
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
