// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { CallOptions } from '../client/call-options.ts'
import type { Actor } from '../core/actor.ts'
import type { LoginAnswer, MeAnswer, OwnSessions } from './users.ts'

/** `client.auth`. */
export interface AuthClient {
  /**
   * Change the password; your other sessions end.
   *
   * Ends every other session of the user, pending reset links and requested changes of the address; API keys stay.
   * Sets a cookie that marks the browser as known; others are no longer. Counts as a sign-in of the IP address; a
   * user has five attempts a minute.
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
   * Change your names, and whether you share what you have read.
   *
   * Missing fields keep their value. Others see the new names at once, also on earlier messages. With `receipts:
   * false` you are in no list of readers, and get none.
   *
   * @throws ChatError `forbidden`, `username_taken`, `validation_failed`
   */
  changeProfile(
    input?: {
      /** At least one visible character. Empty: none */
      display_name?: string | undefined
      /** Unique without regard to case; no control, invisible, bidirectional or variation characters, no outer spaces */
      username?: string | undefined
      /** `false`: share no read markers, and see none of others */
      receipts?: boolean | undefined
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
  /** The cookies that the host's own authentication sets with the response. */
  set_cookie?: string[]
}
