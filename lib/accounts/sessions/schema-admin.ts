import * as v from 'valibot'
import { Id, Instant, Limit } from '../../core/schema.ts'

/** The user whose sessions to list, a page at a time. */
export const SessionsQuery = v.object({ user_id: v.optional(Id), after: v.optional(Id), limit: Limit(50, 200) })
export type SessionsQuery = v.InferOutput<typeof SessionsQuery>

/** The sessions to end: one, those of a user, or all. */
export const SessionRevocation = v.union([
  v.object({ session_id: Id }),
  v.object({ user_id: Id }),
  v.object({ all: v.literal(true) }),
])
export type SessionRevocation = v.InferOutput<typeof SessionRevocation>

/** A live session of any user, as an administrator reads it. */
export const SessionOfUser = v.object({
  id: Id,
  user_id: Id,
  username: v.string(),
  issued_at: Instant,
  last_seen_at: Instant,
  expires_at: v.pipe(Instant, v.description('When it ends if it is not used')),
  user_agent: v.optional(v.string()),
  ip: v.optional(v.string()),
})
export type SessionOfUser = v.InferOutput<typeof SessionOfUser>

/** A page of live sessions, oldest first. */
export const SessionsOfUsers = v.object({ sessions: v.array(SessionOfUser), next_after: v.optional(Id) })
export type SessionsOfUsers = v.InferOutput<typeof SessionsOfUsers>

/** Which of the sessions of one user. */
export const SessionsOfUserQuery = v.object({
  after: v.optional(v.pipe(Id, v.description('`next_after` of the previous page'))),
  limit: Limit(50, 200),
})
export type SessionsOfUserQuery = v.InferOutput<typeof SessionsOfUserQuery>

/** How many sessions have ended. */
export const Revoked = v.object({ revoked: v.pipe(v.number(), v.integer()) })
export type Revoked = v.InferOutput<typeof Revoked>
