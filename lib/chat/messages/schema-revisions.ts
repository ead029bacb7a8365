import * as v from 'valibot'
import { AnyInstant, Instant, Limit } from '../../core/schema.ts'

/** An earlier text of a message. */
export const Revision = v.object({ content: v.string(), replaced_at: Instant, reason: v.optional(v.string()) })
export type Revision = v.InferOutput<typeof Revision>

export const RevisionsQuery = v.object({
  after: v.optional(v.pipe(AnyInstant, v.description('Only texts replaced later'))),
  limit: Limit(50, 200),
})
export type RevisionsQuery = v.InferOutput<typeof RevisionsQuery>

/** A page of the earlier texts of a message, oldest first; empty for a deleted message. */
export const Revisions = v.object({ revisions: v.array(Revision), next_after: v.optional(Instant) })
export type Revisions = v.InferOutput<typeof Revisions>
