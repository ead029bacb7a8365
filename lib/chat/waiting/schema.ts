import * as v from 'valibot'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { Id, opaque } from '../../core/schema.ts'

/** How long a call may wait: proxies end silent requests after a minute. */
const MAX_SECONDS = 55

const Seconds = v.pipe(v.number(), v.integer(), v.maxValue(MAX_SECONDS))

/** Which messages a call waits for. */
export const MessagesAwaited = v.object({
  conversation_id: v.optional(v.pipe(Id, v.description('Only messages of this conversation'))),
  root_id: v.optional(v.pipe(Id, v.description('Only messages of this thread'))),
  after: v.pipe(
    opaque(MAX_LENGTH.position),
    v.description(
      'A position: `after` of an earlier result, or `now`. That of one conversation is for this conversation, or a thread of it',
    ),
  ),
  seconds: v.optional(v.pipe(Seconds, v.minValue(1), v.description('How long to wait')), 25),
  max_messages: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.toMaxValue(200)), 50),
  max_bytes: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1)), 1024 * 1024),
})
export type MessagesAwaited = v.InferOutput<typeof MessagesAwaited>

/** How long a call waits for the end of an answer. */
export const AnswerAwaited = v.object({
  seconds: v.optional(v.pipe(Seconds, v.minValue(0), v.description('How long to wait for its end')), 0),
})
