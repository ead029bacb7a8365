import * as v from 'valibot'
import { Id } from '../../core/schema.ts'
import { Presence } from '../conversations/schema.ts'

export const Heartbeat = v.object({ status: v.optional(v.picklist(['online', 'away', 'offline']), 'online') })
export type Heartbeat = v.InferOutput<typeof Heartbeat>

/** A user types, for this many seconds unless the signal is repeated; 0 means that the user has stopped. */
export const TypingSignal = v.object({
  conversation_id: Id,
  root_id: v.optional(Id),
  seconds: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(30)), 5),
})
export type TypingSignal = v.InferOutput<typeof TypingSignal>

/** The maximum number of users in one call. */
const MAX_USERS = 200

/** Users by their ids, as one text: it is a parameter of a query. */
export const PresenceQuery = v.object({
  user_ids: v.pipe(
    v.string(),
    v.maxLength(MAX_USERS * 37),
    v.regex(/^[0-9a-fA-F-]{36}(,[0-9a-fA-F-]{36})*$/, 'must be 1 to 200 user ids, separated by commas'),
    v.description('Up to 200 user ids, separated by commas'),
  ),
})
export type PresenceQuery = v.InferOutput<typeof PresenceQuery>

/** The presence of one user. */
export const UserPresence = v.object({ user_id: Id, ...Presence.entries })
export type UserPresence = v.InferOutput<typeof UserPresence>

/** The presence of some users. */
export const Presences = v.object({ presence: v.array(UserPresence) })
export type Presences = v.InferOutput<typeof Presences>
