// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { Actor } from '../core/actor.ts'
import type { User } from './users.ts'

/** `chat.sessions`. */
export interface SessionsUseCases {
  /**
   * The live sessions, oldest first: of one user or of all.
   *
   * @throws ChatError `forbidden`; `validation_failed`
   */
  list(
    actor: Actor,
    input?: {
      user_id?: string | undefined
      after?: string | undefined
      /** At most 200; larger values are lowered to it */
      limit?: number | undefined
    },
  ): Promise<{ sessions: SessionOfUser[]; next_after?: string }>

  /**
   * Ends sessions at once; their streams close.
   *
   * @returns the number of sessions ended
   * @throws ChatError `forbidden`; `not_found` for a session or a user that does not exist; `validation_failed`
   */
  revoke(
    actor: Actor,
    input: { session_id: string } | { user_id: string } | { all: true },
  ): Promise<{ revoked: number }>
}

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
