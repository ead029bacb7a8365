import * as v from 'valibot'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { Id, INSTANT_PATTERNS, Instant, Limit, MAX_INSTANT_LENGTH, opaque, text } from '../../core/schema.ts'
import { Message } from '../messages/schema.ts'

/** What a message can be searched for to have. */
export const Has = v.picklist(['file', 'link', 'mention', 'reaction', 'pin'])
export type Has = v.InferOutput<typeof Has>

/** An instant, or the beginning of a day in UTC. */
export const When = v.pipe(
  v.string(),
  v.maxLength(MAX_INSTANT_LENGTH),
  v.regex(INSTANT_PATTERNS.day_or_instant, 'must be an RFC 3339 instant, or a date'),
)

/** A day in UTC. */
export const Day = v.pipe(v.string(), v.maxLength(10), v.regex(INSTANT_PATTERNS.day, 'must be a date'))

/** A date as the instant at which it begins. */
export function toInstantText(when: string): string {
  return when.length === 10 ? `${when}T00:00:00Z` : when
}

const narrowing = (description: string) => v.optional(v.pipe(opaque(MAX_LENGTH.token), v.description(description)))

export const SearchQuery = v.object({
  q: v.optional(
    v.pipe(
      text(MAX_LENGTH.query),
      v.description(
        'Words that must be there; `"several words"` next to each other; `-word` must not be there; `word*` begins so. `in:`, `from:`, `thread:`, `before:`, `after:`, `on:`, `has:` narrow as the parameters do, also with a value in quotes. Of more than 20 words and phrases, the first 20 are searched for',
      ),
    ),
    '',
  ),
  in: narrowing('Only messages of this conversation'),
  from: narrowing(
    'Only messages by this user, and answers that the user asked for: an id, `@` and a username, or a username or display name, of several users all',
  ),
  thread: narrowing('Only messages of this thread'),
  before: v.optional(v.pipe(When, v.description('Only earlier messages'))),
  after: v.optional(v.pipe(When, v.description('Only messages from then on'))),
  on: v.optional(v.pipe(Day, v.description('Only messages of this day in UTC'))),
  has: v.optional(v.pipe(Has, v.description('Only messages with it'))),
  cursor: v.optional(
    v.pipe(opaque(MAX_LENGTH.token), v.description('`next_cursor` of the previous page of the same query')),
  ),
  limit: Limit(20, 50),
})
export type SearchQuery = v.InferOutput<typeof SearchQuery>

/** A part of a text around the first match, and where the matches are in it. */
export const SearchExcerpt = v.object({
  field: v.picklist(['title', 'content', 'prompt', 'attachment']),
  text: v.string(),
  ranges: v.pipe(
    v.array(v.pipe(v.array(v.pipe(v.number(), v.integer())), v.length(2))),
    v.description('Start and end of each match in `text`, in UTF-16 units'),
  ),
})
export type SearchExcerpt = v.InferOutput<typeof SearchExcerpt>

/** The conversation of a message. */
export const SearchPlace = v.object({ id: Id, title: v.string() })

export const SearchResult = v.object({
  message: Message,
  conversation: SearchPlace,
  excerpts: v.array(SearchExcerpt),
})
export type SearchResult = v.InferOutput<typeof SearchResult>

/** Messages by the order of their arrival, newest first. */
export const SearchPage = v.object({
  results: v.array(SearchResult),
  next_cursor: v.optional(v.string()),
  unknown_filters: v.optional(
    v.pipe(
      v.array(v.string()),
      v.description('The keys of `key:value` in `q` that narrow nothing: both were searched for as words'),
    ),
  ),
  partial: v.optional(
    v.pipe(
      v.literal(true),
      v.description('The time for one request is over: continue with `next_cursor`. It can come without a result'),
    ),
  ),
  incomplete: v.optional(
    v.pipe(v.literal(true), v.description('Older messages are still brought into the index, and are not found yet')),
  ),
})
export type SearchPage = v.InferOutput<typeof SearchPage>

/** How the index is rebuilt. */
export const RebuildInput = v.object({
  from_scratch: v.optional(
    v.pipe(v.boolean(), v.description('Whether to empty the index first. Default: what is in it is replaced')),
    false,
  ),
})

/** The state of the search index. */
export const SearchStatus = v.object({
  enabled: v.boolean(),
  documents: v.pipe(v.number(), v.integer(), v.description('Messages in the index')),
  waiting: v.pipe(
    v.number(),
    v.integer(),
    v.description('Changes that the index does not have yet; searches read them directly'),
  ),
  refused: v.pipe(
    v.number(),
    v.integer(),
    v.description('Of these, those that the database refuses to take into the index'),
  ),
  filling: v.pipe(v.boolean(), v.description('Whether older messages are being brought into it')),
  reaches_back_to: v.optional(v.pipe(Instant, v.description('When the oldest message of the index was posted'))),
  analysis: v.optional(v.pipe(v.string(), v.description('The version of the analysis of texts, or `off`'))),
  bytes: v.pipe(v.number(), v.integer(), v.description('Size of the index')),
})
export type SearchStatus = v.InferOutput<typeof SearchStatus>
