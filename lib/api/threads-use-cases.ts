// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { Actor } from '../core/actor.ts'
import type { ThreadPage, TreePage, UnreadThreads } from './threads.ts'

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
   * @throws ChatError `not_found`; `forbidden` for a system actor, which reads nothing; `validation_failed`
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
   * Moves the actor's read marker in a thread forward to a message, or to the end; never back. The notifications of
   * the thread up to there are read, too. The actor's own streams get events.
   *
   * @throws ChatError `not_found`, also for a message that is not in the thread; `forbidden` as `unread`;
   * `validation_failed`
   */
  markRead(
    actor: Actor,
    root_id: string,
    input?: { path?: string | undefined; message_id?: string | undefined },
  ): Promise<void>

  /**
   * Moves the actor's read marker in a thread back, so that a message and those that arrived after it are unread.
   * Those from before the actor joined stay read. The actor's own streams get an event.
   *
   * @throws ChatError `not_found`, also for a message that is not in the thread; `forbidden` as `unread`;
   * `validation_failed`
   */
  markUnread(actor: Actor, root_id: string, input: { message_id: string }): Promise<void>
}
