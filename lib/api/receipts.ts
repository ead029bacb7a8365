// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { CallOptions } from '../client/call-options.ts'

/** `client.receipts`. */
export interface ReceiptsClient {
  /**
   * List who has read a message.
   *
   * The participants whose read marker is at the arrival of the message or later, except its author and those who do
   * not share what they read. Continue with `after`.
   *
   * @throws ChatError `not_found`, `forbidden`, `message_deleted`, `invalid_cursor`, `validation_failed`
   */
  ofMessage(
    message_id: string,
    input?: {
      /** `next_after` of the previous page */
      after?: string | undefined
      /** At most 200; larger values are lowered to it */
      limit?: number | undefined
    },
    options?: CallOptions,
  ): Promise<MessageReaders>

  /**
   * List the read markers in a thread, latest first.
   *
   * Of the participants who share what they read; at most 1,000.
   *
   * @throws ChatError `not_found`, `forbidden`
   */
  ofThread(root_id: string, options?: CallOptions): Promise<ThreadReaders>
}

/** A page of the participants who have read a message. */
export interface MessageReaders {
  readers: ThreadReader[]
  /** Number of all of them */
  count: number
  next_after?: string
}

/** A participant's read marker in a thread. */
export interface ThreadReader {
  user_id: string
  /** The arrival of the message at which the marker is, not the time of reading */
  read_at: string
}

/** The read markers in a thread, latest first. */
export interface ThreadReaders {
  /** At most 1,000 */
  readers: ThreadReader[]
}
