// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { CallOptions } from '../client/call-options.ts'
import type { Message } from './messages.ts'

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
   * Mark a thread as unread from a message on.
   *
   * That message and those that arrived after it are unread again, except the caller's own and those from before the
   * caller joined. Other users notice nothing.
   *
   * @throws ChatError `not_found`, `validation_failed`
   */
  markUnread(root_id: string, input: { message_id: string }, options?: CallOptions): Promise<void>

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
  /** The first 140 characters of the root, or the names of its files */
  root_excerpt: string
  /** How many files the root has; missing for none */
  root_file_count?: number
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
