// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { CallOptions } from '../client/call-options.ts'
import type { Actor } from '../core/actor.ts'
import type { Message } from './messages.ts'

/** `chat.threads`. */
export interface ThreadsUseCases {
  /**
   * A page of a conversation's threads, latest activity first.
   *
   * @throws ChatError `not_found`; `validation_failed`
   */
  list(
    actor: Actor,
    conversation_id: string,
    input?: {
      /** Only threads whose last activity is older */
      after?: string | undefined
      /** At most 200; larger values are lowered to it */
      limit?: number | undefined
    },
  ): Promise<ThreadPage>

  /**
   * A page of a thread, depth first: a message, then all messages below it, siblings in the order of arrival.
   *
   * @throws ChatError `not_found`; `invalid_cursor` for a cursor that is not a path; `validation_failed`
   */
  tree(
    actor: Actor,
    root_id: string,
    input?: {
      /** The path of the last message already read */
      cursor_path?: string | undefined
      /** At most 500; larger values are lowered to it */
      limit?: number | undefined
    },
  ): Promise<TreePage>

  /**
   * A page of a conversation's threads with unread messages, latest activity first: messages of others that arrived
   * after the reader's marker, and after the reader joined.
   *
   * @throws ChatError `not_found`; `validation_failed`
   */
  unread(
    actor: Actor,
    conversation_id: string,
    input?: {
      /** Only threads whose last activity is older */
      after?: string | undefined
      /** At most 1000; larger values are lowered to it */
      limit?: number | undefined
    },
  ): Promise<UnreadThreads>

  /**
   * Moves the actor's read marker in a thread forward to a message, or to the end; never back. The actor's own
   * streams get an event.
   *
   * @throws ChatError `not_found`, also for a message that is not in the thread; `validation_failed`
   */
  markRead(
    actor: Actor,
    root_id: string,
    input?: { path?: string | undefined; message_id?: string | undefined },
  ): Promise<void>
}

/** `client.threads`. */
export interface ThreadsClient {
  /**
   * List threads, latest activity first.
   *
   * Each with the caller's unread count. Continue with `after`: threads with older last activity.
   *
   * @throws ChatError `not_found`, `validation_failed`
   */
  list(
    conversation_id: string,
    input?: {
      /** Only threads whose last activity is older */
      after?: string | undefined
      /** At most 200; larger values are lowered to it */
      limit?: number | undefined
    },
    options?: CallOptions,
  ): Promise<ThreadPage>

  /**
   * Mark a thread as read.
   *
   * Up to the arrival of the message with that `path` or `message_id`, or the whole thread. A read marker never
   * moves back.
   *
   * @throws ChatError `not_found`, `validation_failed`
   */
  markRead(
    root_id: string,
    input?: { path?: string | undefined; message_id?: string | undefined },
    options?: CallOptions,
  ): Promise<void>

  /**
   * Read a thread, depth first.
   *
   * Each message comes before its replies, siblings in the order they arrived. A page ends early if messages are
   * long. Continue with `cursor_path`.
   *
   * @throws ChatError `not_found`, `invalid_cursor`, `validation_failed`
   */
  tree(
    root_id: string,
    input?: {
      /** The path of the last message already read */
      cursor_path?: string | undefined
      /** At most 500; larger values are lowered to it */
      limit?: number | undefined
    },
    options?: CallOptions,
  ): Promise<TreePage>

  /**
   * List threads with unread messages.
   *
   * Counts messages of others that arrived after the caller's read marker in each thread, and after the caller
   * joined. Latest activity first; continue with `after`.
   *
   * @throws ChatError `not_found`, `validation_failed`
   */
  unread(
    conversation_id: string,
    input?: {
      /** Only threads whose last activity is older */
      after?: string | undefined
      /** At most 1000; larger values are lowered to it */
      limit?: number | undefined
    },
    options?: CallOptions,
  ): Promise<UnreadThreads>
}

/** A page of threads, latest activity first. */
export interface ThreadPage {
  threads: ThreadSummary[]
  next_after?: string
  /** Event id to resume a stream from */
  stream_position?: string
}

/** A thread in a list; `unread` depends on the reader, and is not in events. */
export interface ThreadSummary {
  root_id: string
  /** The first 140 characters of the root */
  root_excerpt: string
  /** The user who wrote the root */
  root_author?: string
  created_at: string
  last_activity_at: string
  /** Messages that are not deleted */
  message_count: number
  /** Number of authors in it */
  participant_count: number
  unread?: number
}

/** A page of a thread, depth first. */
export interface TreePage {
  root_id: string
  messages: Message[]
  next_cursor?: string
  /** Event id to resume a stream from */
  stream_position?: string
}

/** A page of threads with unread messages, latest activity first. */
export interface UnreadThreads {
  threads: UnreadThread[]
  /** In the whole conversation, not only on this page */
  total: number
  next_after?: string
  /** Event id to resume a stream from */
  stream_position?: string
}

export interface UnreadThread {
  root_id: string
  unread: number
}
