import * as v from 'valibot'
import { AnyInstant, Id, Instant, Limit } from '../../core/schema.ts'
import { Message } from '../messages/schema.ts'

export const PinsQuery = v.object({
  after: v.optional(v.pipe(AnyInstant, v.description('Only messages that were pinned earlier'))),
  limit: Limit(100, 100),
})
export type PinsQuery = v.InferOutput<typeof PinsQuery>

/** A pinned message: when it was pinned, and by which user, unless that user is erased. */
export const Pin = v.object({ message: Message, by: v.optional(Id), at: Instant })
export type Pin = v.InferOutput<typeof Pin>

/** The pinned messages of a conversation, latest first. */
export const PinPage = v.object({ pins: v.array(Pin), next_after: v.optional(Instant) })
export type PinPage = v.InferOutput<typeof PinPage>
