// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { CallOptions } from '../client/call-options.ts'
import type { Message } from './messages.ts'

/** `client.pins`. */
export interface PinsClient {
  /**
   * Pin a message in its conversation.
   *
   * Allowed for participants who may post. If it is pinned, nothing changes. A conversation has at most
   * `limits.pins` (100) pinned messages (`conflict`).
   *
   * @throws ChatError `not_found`, `forbidden`, `message_deleted`, `conflict`
   */
  add(message_id: string, options?: CallOptions): Promise<void>

  /**
   * List the pinned messages of a conversation, latest first.
   *
   * Deleted messages are left out; a restored one is there again. A page ends early if messages are long. Continue
   * with `after`.
   *
   * @throws ChatError `not_found`, `validation_failed`
   */
  list(
    conversation_id: string,
    input?: {
      /** Only messages that were pinned earlier */
      after?: string | undefined
      /** At most 100; larger values are lowered to it */
      limit?: number | undefined
    },
    options?: CallOptions,
  ): Promise<PinPage>

  /**
   * Unpin a message.
   *
   * Allowed for participants who may post. If it is not pinned, nothing changes.
   *
   * @throws ChatError `not_found`, `forbidden`, `message_deleted`
   */
  remove(message_id: string, options?: CallOptions): Promise<void>
}

/** The pinned messages of a conversation, latest first. */
export interface PinPage {
  pins: Pin[]
  next_after?: string
}

/** A pinned message: when it was pinned, and by which user, unless that user is erased. */
export interface Pin {
  message: Message
  by?: string
  at: string
}
