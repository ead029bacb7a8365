// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { CallOptions } from '../client/call-options.ts'

/** `client.usage`. */
export interface UsageAdminClient {
  /**
   * List what users or conversations store, largest first.
   *
   * From sums that are made once a day, and by a request that finds them older than an hour: it waits up to five
   * seconds for new ones, and otherwise has the old ones (`as_of`). The pages after the first are of the same sums.
   * A file that several messages have counts for each; a file that no message has any more counts for its uploader
   * until its bytes are deleted.
   *
   * @throws ChatError `invalid_cursor`, `unavailable`, `validation_failed`
   */
  list(
    input?: {
      /** Whether to sum up by uploader and author, or by conversation */
      by?: 'user' | 'conversation' | undefined
      /** `next_after` of the previous page */
      after?: string | undefined
      /** At most 200; larger values are lowered to it */
      limit?: number | undefined
    },
    options?: CallOptions,
  ): Promise<StorageUsagePage>
}

/** A page of what users or conversations store, largest first. */
export interface StorageUsagePage {
  rows: StorageUsage[]
  /** When it was begun to sum up */
  as_of: string
  next_after?: string
}

/** What a user or a conversation stores. */
export interface StorageUsage {
  /** The user or the conversation */
  key: string
  /** Files whose bytes are stored */
  files: number
  /** The bytes of files, as `attachments.per_user_bytes` counts them */
  bytes: number
  /**
   * Those among them that are deleted later: of deleted messages and, of a user, of files that no message has any
   * more
   */
  released_bytes: number
  /** The bytes of the texts of messages, in UTF-8 */
  message_bytes: number
}
