// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { Actor } from '../core/actor.ts'
import type { PinPage } from './pins.ts'

/** `chat.pins`. */
export interface PinsUseCases {
  /**
   * Pins a message in its conversation and publishes an event. If it is pinned, nothing changes.
   *
   * @throws ChatError `not_found`; `forbidden` for a viewer or a read-only user; `message_deleted`; `conflict` for
   * one pin more than `limits.pins`
   */
  add(actor: Actor, message_id: string): Promise<void>

  /**
   * Removes the pin of a message and publishes an event. Without one, nothing changes.
   *
   * @throws ChatError `not_found`; `forbidden` for a viewer or a read-only user; `message_deleted`
   */
  remove(actor: Actor, message_id: string): Promise<void>

  /**
   * The pinned messages of a conversation, latest first, without deleted ones. A page ends early if messages are
   * long.
   *
   * @throws ChatError `not_found`; `validation_failed`
   */
  list(
    actor: Actor,
    conversation_id: string,
    input?: {
      /** Only messages that were pinned earlier */
      after?: string | undefined
      /** At most 100; larger values are lowered to it */
      limit?: number | undefined
    },
  ): Promise<PinPage>
}
