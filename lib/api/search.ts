// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { CallOptions } from '../client/call-options.ts'
import type { Message } from './messages.ts'

/** `client.search`. */
export interface SearchClient {
  /**
   * Search messages, newest first.
   *
   * In the conversations that the caller participates in now, also from before they joined; a message is found as
   * soon as its post or edit has been answered, and not found once its deletion has. The names of its files are
   * searched, too. Letters' case does not matter, nor marks of Latin, Greek, Cyrillic, Arabic and Hebrew letters.
   * With `in`, `from`, `thread` or `has`, `q` may be empty. Continue with `cursor`.
   *
   * @throws ChatError `not_found`, `invalid_cursor`, `rate_limited`, `validation_failed`
   */
  messages(
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
    options?: CallOptions,
  ): Promise<SearchPage>
}

/** Messages by the order of their arrival, newest first. */
export interface SearchPage {
  results: SearchResult[]
  next_cursor?: string
  /** The keys of `key:value` in `q` that narrow nothing: both were searched for as words */
  unknown_filters?: string[]
  /** The time for one request is over: continue with `next_cursor`. It can come without a result */
  partial?: true
  /** Older messages are still brought into the index, and are not found yet */
  incomplete?: true
}

export interface SearchResult {
  message: Message
  conversation: SearchPlace
  excerpts: SearchExcerpt[]
}

/** The conversation of a message. */
export interface SearchPlace {
  id: string
  title: string
}

/** A part of a text around the first match, and where the matches are in it. */
export interface SearchExcerpt {
  field: 'content' | 'prompt' | 'attachment'
  text: string
  /** Start and end of each match in `text`, in UTF-16 units */
  ranges: number[][]
}

/** The state of the search index. */
export interface SearchStatus {
  enabled: boolean
  /** Messages in the index */
  documents: number
  /** Changes that the index does not have yet; searches read them directly */
  waiting: number
  /** Of these, those that the database refuses to take into the index */
  refused: number
  /** Whether older messages are being brought into it */
  filling: boolean
  /** When the oldest message of the index was posted */
  reaches_back_to?: string
  /** The version of the analysis of texts, or `off` */
  analysis?: string
  /** Size of the index */
  bytes: number
}
