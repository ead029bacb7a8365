import * as v from 'valibot'
import { Cursor, Id, Instant, Limit } from '../../core/schema.ts'

/** A participant's read marker in a thread. */
export const ThreadReader = v.object({
  user_id: Id,
  read_at: v.pipe(Instant, v.description('The arrival of the message at which the marker is, not the time of reading')),
})
export type ThreadReader = v.InferOutput<typeof ThreadReader>

export const ReadersQuery = v.object({ after: v.optional(Cursor), limit: Limit(50, 200) })
export type ReadersQuery = v.InferOutput<typeof ReadersQuery>

/** A page of the participants who have read a message. */
export const MessageReaders = v.object({
  readers: v.array(ThreadReader),
  count: v.pipe(v.number(), v.integer(), v.description('Number of all of them')),
  next_after: v.optional(v.string()),
})
export type MessageReaders = v.InferOutput<typeof MessageReaders>

/** The read markers in a thread, latest first. */
export const ThreadReaders = v.object({
  readers: v.pipe(v.array(ThreadReader), v.description('At most 1,000')),
})
export type ThreadReaders = v.InferOutput<typeof ThreadReaders>
