import * as v from 'valibot'
import { EMOJI_PATTERN, isEmoji, MAX_EMOJI_BYTES } from '../../core/emoji.ts'
import { Cursor, Id, Instant, Limit } from '../../core/schema.ts'

/** An emoji, or the name of a picture of the application's. */
export const Emoji = v.pipe(
  v.string(),
  v.minLength(1),
  v.maxLength(MAX_EMOJI_BYTES, `must be at most ${MAX_EMOJI_BYTES} bytes of UTF-8`),
  v.check(isEmoji, 'must be one emoji, or a name such as :tada:'),
  v.metadata({ pattern: EMOJI_PATTERN }),
  v.description('One emoji of at most 64 bytes of UTF-8, or a name in colons: 1 to 32 characters `a-z 0-9 _ + -`'),
)

export const ReactionRemoval = v.object({
  all: v.optional(v.pipe(v.boolean(), v.description('Those of all users; for owners and admins of the conversation'))),
})
export type ReactionRemoval = v.InferOutput<typeof ReactionRemoval>

export const ReactionsQuery = v.object({
  emoji: v.optional(v.pipe(Emoji, v.description('Only the reactions with this emoji'))),
  after: v.optional(Cursor),
  limit: Limit(50, 200),
})
export type ReactionsQuery = v.InferOutput<typeof ReactionsQuery>

/** The reaction of one user. */
export const ReactionOfUser = v.object({ emoji: v.string(), user_id: Id, at: Instant })
export type ReactionOfUser = v.InferOutput<typeof ReactionOfUser>

/** A page of the reactions to a message, oldest first. */
export const ReactionPage = v.object({ reactions: v.array(ReactionOfUser), next_after: v.optional(v.string()) })
export type ReactionPage = v.InferOutput<typeof ReactionPage>
