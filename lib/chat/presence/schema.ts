import * as v from 'valibot'
import { Id } from '../../core/schema.ts'

export const Heartbeat = v.object({ status: v.optional(v.picklist(['online', 'away', 'offline']), 'online') })
export type Heartbeat = v.InferOutput<typeof Heartbeat>

/** Somebody types, for so many seconds unless it is said again; 0 says that it is over. */
export const TypingSignal = v.object({
  conversation_id: Id,
  root_id: v.optional(Id),
  seconds: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(30)), 5),
})
export type TypingSignal = v.InferOutput<typeof TypingSignal>
