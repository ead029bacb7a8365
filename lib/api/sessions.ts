// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { User } from './users.ts'

/** The client of a sign-in. */
export interface Client {
  ip?: string | undefined
  user_agent?: string | undefined
  /** The session token the client already has; a new sign-in ends that session. */
  token?: string | undefined
  /** The content of the browser's cookie for started sign-ins through providers. */
  binding?: string | undefined
  /** The token of a known browser. */
  device?: string | undefined
  /** Whether the client has closed the connection. */
  isGone?: (() => boolean) | undefined
}

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

/** A signed-in session with its token, which the caller puts into a cookie. */
export interface SignedIn extends LoginAnswer {
  token: string
  /** The new token of the known browser. */
  device?: string
}

export interface LoginAnswer {
  user: User
  session: Session
  csrf_token: string
}

/** A session as its user reads it: `expires_at` moves with use, `absolute_expires_at` never. */
export interface Session {
  id: string
  issued_at: string
  expires_at: string
  absolute_expires_at: string
}

/** The caller; without a session for an API key, and with a host's own authentication. */
export interface MeAnswer {
  user: User
  session?: Session
  /** Whether the caller shares read markers, and sees those of others */
  receipts: boolean
}

/** A page of the caller's own sessions, the last used first. */
export interface OwnSessions {
  sessions: OwnSession[]
  next_after?: string
}

/** One of the caller's own sessions in a list. */
export interface OwnSession {
  id: string
  issued_at: string
  expires_at: string
  absolute_expires_at: string
  last_seen_at: string
  user_agent?: string
  ip?: string
  /** Whether this is the session of the request */
  current: boolean
}
