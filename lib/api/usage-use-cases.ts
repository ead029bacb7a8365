// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { Actor } from '../core/actor.ts'
import type { StorageUsagePage } from './usage.ts'

/** `chat.usage`. */
export interface UsageUseCases {
  /**
   * A page of what users or conversations store, largest first. The first page has sums that are at most an hour
   * old, or older ones if new ones are not there within five seconds; the following pages are of the same sums as
   * the first.
   *
   * @throws ChatError `forbidden`; `invalid_cursor`, also when sums were made twice since the first page;
   * `unavailable` before they are there for the first time; `validation_failed`
   */
  list(
    actor: Actor,
    input?: {
      /** Whether to sum up by uploader and author, or by conversation */
      by?: 'user' | 'conversation' | undefined
      /** `next_after` of the previous page */
      after?: string | undefined
      /** At most 200; larger values are lowered to it */
      limit?: number | undefined
    },
  ): Promise<StorageUsagePage>
}
