import * as v from 'valibot'
import { Id } from '../../core/schema.ts'

export const Heartbeat = v.object({ status: v.optional(v.picklist(['online', 'away', 'offline']), 'online') })
export type Heartbeat = v.InferOutput<typeof Heartbeat>

/** A user types, for this many seconds unless the signal is repeated; 0 means that the user has stopped. */
export const TypingSignal = v.object({
  conversation_id: Id,
  root_id: v.optional(Id),
  seconds: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(30)), 5),
})
export type TypingSignal = v.InferOutput<typeof TypingSignal>
