// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { Actor } from '../core/actor.ts'
import type { MessageReaders, ThreadReaders } from './receipts.ts'

/** `chat.receipts`. */
export interface ReceiptsUseCases {
  /**
   * A page of the participants with a read marker at the arrival of a message or later, except its author.
   *
   * @throws ChatError `not_found`, also with `receipts.enabled = false`; `forbidden` if the policy of the
   * conversation or the actor's own settings have no receipts, and for a system actor; `message_deleted`;
   * `invalid_cursor`; `validation_failed`
   */
  ofMessage(
    actor: Actor,
    message_id: string,
    input?: {
      /** `next_after` of the previous page */
      after?: string | undefined
      /** At most 200; larger values are lowered to it */
      limit?: number | undefined
    },
  ): Promise<MessageReaders>

  /**
   * The read markers of the participants in a thread, latest first; at most 1,000.
   *
   * @throws ChatError `not_found`, `forbidden` as `ofMessage`
   */
  ofThread(actor: Actor, root_id: string): Promise<ThreadReaders>
}
