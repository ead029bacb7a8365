// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { Actor } from '../core/actor.ts'
import type { CancelledAnswer, Chunk } from './answers.ts'

/** `chat.answers`. */
export interface AnswersUseCases {
  /**
   * Cancels an answer; the text so far is kept. An ended answer is left as it is. If another user than the actor
   * asked, and has no open stream, they are notified.
   *
   * @throws ChatError `not_found`; `forbidden` unless the actor asked, or is owner or admin of the conversation
   */
  cancel(actor: Actor, message_id: string): Promise<CancelledAnswer>

  /**
   * The chunks of an answer in order; none of a deleted one. A page of fewer than `limit` need not be the last:
   * continue with the last `idx` + 1 until a page is empty.
   *
   * @throws ChatError `not_found`; `validation_failed`
   */
  listChunks(
    actor: Actor,
    message_id: string,
    input?: {
      /** The first `idx` to list */
      from?: number | undefined
      /** At most 1000; larger values are lowered to it */
      limit?: number | undefined
    },
  ): Promise<Chunk[]>
}
