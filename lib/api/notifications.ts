// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { CallOptions } from '../client/call-options.ts'

/** `client.notifications`. */
export interface NotificationsClient {
  /**
   * Read your inbox, newest first.
   *
   * What concerns you: mentions, replies to your messages, messages of direct conversations, and conversations you
   * were added to. Those of conversations you have left are not shown. `unread` counts the whole inbox, whatever the
   * filters.
   *
   * @throws ChatError `invalid_cursor`, `validation_failed`
   */
  list(
    input?: {
      /** `true`: only those that are not read */
      unread?: boolean | undefined
      /** Only those of this kind */
      kind?: 'mention' | 'reply' | 'mention_all' | 'direct' | 'added' | undefined
      /** Only those of this conversation */
      conversation?: string | undefined
      /** `next_after` of the previous page */
      after?: string | undefined
      /** At most 200; larger values are lowered to it */
      limit?: number | undefined
    },
    options?: CallOptions,
  ): Promise<NotificationPage>

  /**
   * Mark notifications as read.
   *
   * Either those with these `ids`, or all up to the one `up_to`. Unknown ids are passed over. It moves no read
   * marker; to read a thread up to a message also reads its notifications.
   *
   * @throws ChatError `validation_failed`
   */
  markRead(input: ReadByIds | ReadUpTo, options?: CallOptions): Promise<void>
}

/** A page of the inbox, newest first. */
export interface NotificationPage {
  notifications: Notification[]
  /** The number of unread notifications of the whole inbox */
  unread: number
  /** `next_after` of the previous page */
  next_after?: string
}

/** Something that concerns a user. */
export interface Notification {
  id: string
  /**
   * `mention`: of the user by name; `reply`: to a message of the user; `mention_all`: of all participants; `direct`:
   * a message in a direct conversation; `added`: to a conversation
   */
  kind: 'mention' | 'reply' | 'mention_all' | 'direct' | 'added'
  at: string
  conversation_id: string
  root_id?: string
  message_id?: string
  /** The user who caused it; missing for an answer of the assistant, and for an erased user */
  actor_user_id?: string
  /** Up to 140 characters of the message as it is now */
  excerpt?: string
  /** Of kind `direct`: the messages of the thread since the last time it was read */
  count?: number
  read_at?: string
}

export interface ReadByIds {
  ids: string[]
}

export interface ReadUpTo {
  /** This one and all older ones */
  up_to: string
}
