import * as v from 'valibot'
import { Id, Limit } from '../../core/schema.ts'

/** The user whose sessions to list, a page at a time. */
export const SessionsQuery = v.object({ user_id: v.optional(Id), after: v.optional(Id), limit: Limit(50, 200) })
export type SessionsQuery = v.InferOutput<typeof SessionsQuery>

/** The sessions to end: one, those of a user, or all. */
export const Revocation = v.union([
  v.object({ session_id: Id }),
  v.object({ user_id: Id }),
  v.object({ all: v.literal(true) }),
])
export type Revocation = v.InferOutput<typeof Revocation>

/** A live session of any user, as an administrator reads it. */
export interface SessionOfUser {
  id: string
  user_id: string
  username: string
  issued_at: string
  last_seen_at: string
  expires_at: string
  user_agent?: string
  ip?: string
}
