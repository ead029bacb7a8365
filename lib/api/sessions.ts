// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { Actor } from '../core/actor.ts'
import type { User } from './users.ts'

/** `chat.sessions`. */
export interface SessionsUseCases {
  /**
   * The sessions that are alive, oldest first: of one user or of all.
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
   * @returns how many have ended
   * @throws ChatError `forbidden`; `not_found` for a session or a user that does not exist; `validation_failed`
   */
  revoke(
    actor: Actor,
    input: { session_id: string } | { user_id: string } | { all: true },
  ): Promise<{ revoked: number }>
}

/** Where a sign-in comes from. */
export interface Client {
  ip?: string | undefined
  user_agent?: string | undefined
  /** The session token the client already has; a new sign-in ends that session. */
  token?: string | undefined
  /** What the browser keeps of the sign-ins through a provider that it has begun. */
  binding?: string | undefined
  /** The token of a browser in which a user has signed in before. */
  device?: string | undefined
  /** Whether the client has closed the connection. */
  isGone?: (() => boolean) | undefined
}

/** A live session of anybody, as an administrator sees it. */
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

/** A signed-in session with the token that proves it, which the caller puts into a cookie. */
export interface SignedIn extends LoginAnswer {
  token: string
  /** What the browser is to be known by from now on. */
  device?: string
}

export interface LoginAnswer {
  user: User
  session: Session
  csrf_token: string
}

/** A session as its user sees it: `expires_at` moves with use, `absolute_expires_at` never. */
export interface Session {
  id: string
  issued_at: string
  expires_at: string
  absolute_expires_at: string
}

/** Who calls; without a session for an API key, and where the host decides who calls. */
export interface MeAnswer {
  user: User
  session?: Session
}

/** A page of one's own sessions, the one used last first. */
export interface OwnSessions {
  sessions: OwnSession[]
  next_after?: string
}

/** One of one's own sessions, as one sees it in a list. */
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
