import * as v from 'valibot'
import { Id, Instant, Text } from '../schema.ts'
import { User } from '../users/schema.ts'

export const Credentials = v.object({ email: Text, password: Text })
export type Credentials = v.InferOutput<typeof Credentials>

/** A session as its user sees it: `expires_at` moves with use, `absolute_expires_at` never. */
export const Session = v.object({ id: Id, issued_at: Instant, expires_at: Instant, absolute_expires_at: Instant })
export type Session = v.InferOutput<typeof Session>

export const MeResponse = v.object({ user: User, session: Session })
export type MeResponse = v.InferOutput<typeof MeResponse>

export const LoginResponse = v.object({ user: User, session: Session, csrf_token: v.string() })
export type LoginResponse = v.InferOutput<typeof LoginResponse>
