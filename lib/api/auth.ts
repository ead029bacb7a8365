// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { CallOptions } from '../client/call-options.ts'
import type { Actor } from '../core/actor.ts'
import type { IdentityRequest } from '../ports.ts'
import type { Client, LoginAnswer, MeAnswer, OwnSessions, SignedIn } from './sessions.ts'

/** `chat.auth`. */
export interface AuthUseCases {
  /**
   * Signs in with email and password. A wrong email and a wrong password have the same result and take the same
   * time.
   *
   * After several failures an account is paused, whether it exists or not; a known browser of its owner is counted
   * separately.
   *
   * @throws ChatError `invalid_credentials`; `account_disabled`, after the correct password only; `rate_limited`;
   * `unavailable` when the client has closed the connection; `validation_failed`
   */
  login(client: Client, input: { email: string; password: string }): Promise<SignedIn>

  /**
   * Gives the session new tokens and a new idle deadline; the old tokens become invalid at once.
   *
   * @param client `token` is the one to replace
   * @throws ChatError `unauthenticated` when another refresh was faster; `forbidden` with an API key; `rate_limited`
   * after 100 refreshes of the session in an hour
   */
  refresh(actor: Actor, client: Client): Promise<SignedIn>

  /** Ends the current session and closes its streams. @throws ChatError `forbidden` with an API key */
  logout(actor: Actor): Promise<void>

  /** The caller, and the current session, if any. @throws ChatError `unauthenticated` when it has just ended */
  me(actor: Actor): Promise<MeAnswer>

  /**
   * Changes the actor's password. All other sessions end, with their streams, and so do reset links.
   *
   * @throws ChatError `forbidden` with an API key; `invalid_credentials`, `rate_limited`, `unavailable` as
   * `checkOwnPassword`; `validation_failed`
   */
  changePassword(
    actor: Actor,
    input: {
      current_password: string
      /** At least 8 characters, and at most 72 bytes of UTF-8, after NFKC normalisation */
      new_password: string
    },
  ): Promise<void>

  /**
   * Changes the actor's public profile; missing fields keep their value.
   *
   * @throws ChatError `forbidden` for a read-only user, and with an API key for a username; `username_taken`;
   * `rate_limited`; `validation_failed`
   */
  changeProfile(
    actor: Actor,
    input?: {
      /** Empty: none */
      display_name?: string | undefined
      /** Unique without regard to case; no control, invisible, bidirectional or variation characters, no outer spaces */
      username?: string | undefined
    },
  ): Promise<MeAnswer>

  /**
   * Confirms the actor's password, so that the current session may create keys and link identities for ten minutes.
   *
   * @throws ChatError `forbidden` with an API key; `conflict` for a user without a password, who must sign in again
   * instead; `invalid_credentials`; `rate_limited`; `unauthenticated` when the session has just ended;
   * `validation_failed`
   */
  confirm(actor: Actor, input: { password: string }): Promise<void>

  /**
   * A page of the actor's live sessions, the last used first.
   *
   * @throws ChatError `forbidden` with an API key; `invalid_cursor`; `validation_failed`
   */
  listSessions(
    actor: Actor,
    input?: {
      /** `next_after` of the previous page */
      after?: string | undefined
      /** At most 1000; larger values are lowered to it */
      limit?: number | undefined
    },
  ): Promise<OwnSessions>

  /**
   * Ends a session of the actor, including the current one, and closes its streams.
   *
   * @throws ChatError `forbidden` with an API key; `not_found`, also for another user's and for an expired one
   */
  revokeSession(actor: Actor, session_id: string): Promise<void>

  /**
   * The caller of a request: from the host's own authentication, if it has one; else from `Authorization: Bearer`;
   * else from the session cookie. The first of them that is present decides.
   *
   * @throws ChatError `unauthenticated`, `session_expired`
   */
  recognise(request: IdentityRequest): Promise<Caller>

  /**
   * The caller of a request, for hosts that call the use-cases themselves. A host that accepts state-changing
   * requests with a session cookie this way checks for cross-site requests itself.
   *
   * @throws ChatError `unauthenticated`, `session_expired`
   */
  authenticate(headers: Headers): Promise<Actor>
}

/** `client.auth`. */
export interface AuthClient {
  /**
   * Change the password; your other sessions end.
   *
   * Ends every other session of the user and pending reset links; API keys stay. Counts as a sign-in of the IP
   * address; a user has five attempts a minute.
   *
   * @throws ChatError `invalid_credentials`, `validation_failed`
   */
  changePassword(
    input: {
      current_password: string
      /** At least 8 characters, and at most 72 bytes of UTF-8, after NFKC normalisation */
      new_password: string
    },
    options?: CallOptions,
  ): Promise<void>

  /**
   * Change your names.
   *
   * Missing fields keep their value. Others see the new names at once, also on earlier messages.
   *
   * @throws ChatError `forbidden`, `username_taken`, `validation_failed`
   */
  changeProfile(
    input?: {
      /** Empty: none */
      display_name?: string | undefined
      /** Unique without regard to case; no control, invisible, bidirectional or variation characters, no outer spaces */
      username?: string | undefined
    },
    options?: CallOptions,
  ): Promise<MeAnswer>

  /**
   * Confirm the password before sensitive actions.
   *
   * Creating an API key and linking a provider require a sign-in within the last ten minutes, or this call in the
   * same session (`confirmation_required`). A user without a password signs in again through the provider instead
   * (`conflict`).
   *
   * @throws ChatError `invalid_credentials`, `conflict`, `validation_failed`
   */
  confirm(input: { password: string }, options?: CallOptions): Promise<void>

  /**
   * List your sessions, last used first.
   *
   * The active sessions with the IP address and user agent of their last use; `current` marks the session of this
   * call. Continue with `after`.
   *
   * @throws ChatError `invalid_cursor`, `validation_failed`
   */
  listSessions(
    input?: {
      /** `next_after` of the previous page */
      after?: string | undefined
      /** At most 1000; larger values are lowered to it */
      limit?: number | undefined
    },
    options?: CallOptions,
  ): Promise<OwnSessions>

  /**
   * Sign in.
   *
   * Sets the cookies of a new session and of its CSRF token. A session beyond `session.max_sessions_per_user` ends
   * the oldest one; too many failures lock the account for a while (`rate_limited`).
   *
   * @throws ChatError `invalid_credentials`, `account_disabled`, `validation_failed`
   */
  login(input: { email: string; password: string }, options?: CallOptions): Promise<LoginAnswer>

  /**
   * End the session.
   *
   * Ends the session with its streams, and clears both cookies.
   */
  logout(options?: CallOptions): Promise<void>

  /**
   * Get the signed-in user.
   *
   * The session is missing with an API key, and with the authentication of a host application.
   */
  me(options?: CallOptions): Promise<MeAnswer>

  /**
   * Rotate the tokens of the session.
   *
   * Gives the session new tokens and a new idle deadline. The old tokens are invalid at once; open streams stay.
   */
  refresh(options?: CallOptions): Promise<LoginAnswer>

  /**
   * End one of your sessions.
   *
   * Its streams end too. It may be the session of this call; its cookies are not cleared.
   *
   * @throws ChatError `not_found`
   */
  revokeSession(session_id: string, options?: CallOptions): Promise<void>
}

/** The caller; with a session, also the digest of its CSRF token. */
export interface Caller {
  actor: Actor
  csrf_hash?: string
}
