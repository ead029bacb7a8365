// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { Actor } from '../core/actor.ts'
import type { SearchPage, SearchStatus } from './search.ts'

/** `chat.search`. */
export interface SearchUseCases {
  /**
   * Messages that have what is searched for, in the actor's conversations, newest first.
   *
   * It ends after `search.budget_ms`: then the page is `partial`. At most four searches at a time in a process,
   * further ones wait inside their budget.
   *
   * @throws ChatError `not_found` for a conversation or thread that is not the actor's, and with `search.enabled =
   * false`; `invalid_cursor` also for a cursor of another query; `rate_limited`; `validation_failed`,
   * `validation_failed`
   */
  messages(
    actor: Actor,
    input?: {
      /**
       * Words that must be there; `"several words"` next to each other; `-word` must not be there; `word*` begins so.
       * `in:`, `from:`, `thread:`, `before:`, `after:`, `on:`, `has:` narrow as the parameters do, also with a value in
       * quotes. Of more than 20 words and phrases, the first 20 are searched for
       */
      q?: string | undefined
      /** Only messages of this conversation */
      in?: string | undefined
      /**
       * Only messages by this user, and answers that the user asked for: an id, `@` and a username, or a username or
       * display name, of several users all
       */
      from?: string | undefined
      /** Only messages of this thread */
      thread?: string | undefined
      /** Only earlier messages */
      before?: string | undefined
      /** Only messages from then on */
      after?: string | undefined
      /** Only messages of this day in UTC */
      on?: string | undefined
      /** Only messages with it */
      has?: 'file' | 'link' | 'mention' | 'reaction' | 'pin' | undefined
      /** `next_cursor` of the previous page of the same query */
      cursor?: string | undefined
      /** At most 50; larger values are lowered to it */
      limit?: number | undefined
    },
  ): Promise<SearchPage>

  /** The state of the search index. Only for the operator. @throws ChatError `forbidden` */
  status(actor: Actor): Promise<SearchStatus>

  /**
   * Has the running service index all messages again, the newest first. With `from_scratch` the index is emptied
   * first, and searches are `incomplete` until it is filled. Only for the operator.
   *
   * @throws ChatError `forbidden`; `validation_failed`
   */
  rebuild(
    actor: Actor,
    input?: {
      /** Whether to empty the index first. Default: what is in it is replaced */
      from_scratch?: boolean | undefined
    },
  ): Promise<void>
}
