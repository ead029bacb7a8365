import * as v from 'valibot'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { Id, Instant, Limit, text } from '../../core/schema.ts'

const Rating = v.picklist(['up', 'down'])

/** What a reader is to think of an answer. */
export const FeedbackInput = v.object({ rating: Rating, reason: v.optional(text(MAX_LENGTH.remark)) })

/** What a reader thinks of an answer. */
export const Feedback = v.object({ rating: Rating, reason: v.optional(v.string()) })
export type Feedback = v.InferOutput<typeof Feedback>

/** What a user thinks of an answer, as administrators read it. */
export const FeedbackOfUser = v.object({
  message_id: Id,
  user_id: Id,
  rating: Rating,
  reason: v.optional(v.string()),
  at: Instant,
})
export type FeedbackOfUser = v.InferOutput<typeof FeedbackOfUser>

export const FeedbackPage = v.object({ feedback: v.array(FeedbackOfUser), next_after: v.optional(Id) })
export type FeedbackPage = v.InferOutput<typeof FeedbackPage>

export const FeedbackQuery = v.object({
  after: v.optional(v.pipe(Id, v.description('`next_after` of the previous page'))),
  limit: Limit(50, 200),
})
export type FeedbackQuery = v.InferOutput<typeof FeedbackQuery>
