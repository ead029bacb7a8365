// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { CallOptions } from '../client/call-options.ts'
import type { Actor } from '../core/actor.ts'
import type { Client, LoginAnswer, MeAnswer, OwnSessions, SignedIn } from './sessions.ts'

/** `chat.auth`. */
export interface AuthUseCases {
  /**
   * Signs in with e-mail and password. Wrong e-mail and wrong password look alike and take alike.
   *
   * After several failures an account has to wait, whether there is such an account or not; a browser in which its
   * owner has signed in before is counted by itself.
   *
   * @throws ChatError `invalid_credentials`; `account_disabled`, after the right password only; `rate_limited`;
   * `unavailable` when nobody waits any more; `validation_failed`
   */
  login(client: Client, input: { email: string; password: string }): Promise<SignedIn>

  /**
   * Gives the session new tokens and a new idle deadline; the old tokens are worthless at once.
   *
   * @param client `token` is the one to be replaced
   * @throws ChatError `unauthenticated` when another refresh was faster; `forbidden` with an API key; `rate_limited`
   * after 100   refreshes of the session in an hour
   */
  refresh(actor: Actor, client: Client): Promise<SignedIn>

  /** Ends the session of the call and closes its streams. @throws ChatError `forbidden` with an API key */
  logout(actor: Actor): Promise<void>

  /**
   * Who is calling, and the session it comes with, if any. @throws ChatError `unauthenticated` when it has just
   * ended
   */
  me(actor: Actor): Promise<MeAnswer>

  /**
   * Gives the actor a new password. All sessions but that of the call end, with their streams, and so do reset
   * links.
   *
   * @throws ChatError `forbidden` with an API key; `invalid_credentials`, `rate_limited`, `unavailable` as of
   * {@link checkOwnPassword}; `validation_failed`
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
   * Changes what others see of the actor; what is left out stays.
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
   * Confirms the actor's password, so that the session of the call may make keys and link identities for ten
   * minutes.
   *
   * @throws ChatError `forbidden` with an API key; `conflict` for a user without a password, who signs in again
   * instead;   `invalid_credentials`; `rate_limited`; `unauthenticated` when the session has just ended;
   * `validation_failed`
   */
  confirm(actor: Actor, input: { password: string }): Promise<void>

  /**
   * A page of the actor's live sessions, the one used last first.
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
   * Ends a session of the actor's, also that of the call, and closes its streams.
   *
   * @throws ChatError `forbidden` with an API key; `not_found`, also for somebody else's and for one that has
   * expired
   */
  revokeSession(actor: Actor, session_id: string): Promise<void>

  /**
   * Who a request is from: as the host's login says, if it has one; else by `Authorization: Bearer`, if there is
   * one; else by the session cookie. Where one of them speaks, the next is not asked.
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

/** What the host's login may look at. */
export interface IdentityRequest {
  headers: Headers
  /** The address the call came from, where it is known. */
  ip?: string
}

/** Who calls; with a session, also the digest that its CSRF token must have. */
export interface Caller {
  actor: Actor
  csrf_hash?: string
}
