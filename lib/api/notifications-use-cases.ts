// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { Actor } from '../core/actor.ts'
import type { NotificationPage, ReadByIds, ReadUpTo } from './notifications.ts'

/** `chat.notifications`. */
export interface NotificationsUseCases {
  /**
   * A page of the actor's inbox, newest first: what concerns the actor in conversations in which the actor
   * participates.
   *
   * @throws ChatError `invalid_cursor`; `validation_failed`
   */
  list(
    actor: Actor,
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
  ): Promise<NotificationPage>

  /**
   * Marks notifications of the actor as read: these, or all up to one of them. Unknown ids are passed over. It moves
   * no read marker of a thread. The actor's own streams get an event.
   *
   * @throws ChatError `validation_failed`
   */
  markRead(actor: Actor, input: ReadByIds | ReadUpTo): Promise<void>

  /**
   * Adds the mail of a notification to the queue of mails. Its text is made when it is sent: by then, nothing is
   * sent if the notification is read, its message is deleted, or the user has no verified address.
   *
   * @returns false if the service sends no mail
   * @throws ChatError `forbidden` unless the actor is an administrator; `unavailable` when the queue is full;
   * `validation_failed`
   */
  sendMail(
    actor: Actor,
    input: {
      user_id: string
      notification_id: string
      /** The page on which the user reads on */
      link?: string | undefined
    },
  ): Promise<boolean>
}
