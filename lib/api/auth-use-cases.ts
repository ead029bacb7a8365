// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { Actor } from '../core/actor.ts'
import type { IdentityRequest } from '../ports.ts'
import type { Caller } from './auth.ts'
import type { Client, MeAnswer, OwnSessions, SignedIn } from './users.ts'

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
   * Changes the actor's password. All other sessions end, with their streams, and so does what a thief may have
   * prepared: reset links, requested changes of the address, other known browsers.
   *
   * @returns the token of the browser, which is a known one
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
  ): Promise<{ device: string }>

  /**
   * Changes the actor's names, and whether the actor shares read markers; missing fields keep their value.
   *
   * @throws ChatError `forbidden` for the names of a read-only user, and with an API key for a username;
   * `username_taken`; `rate_limited`; `validation_failed`
   */
  changeProfile(
    actor: Actor,
    input?: {
      /** At least one visible character. Empty: none */
      display_name?: string | undefined
      /** Unique without regard to case; no control, invisible, bidirectional or variation characters, no outer spaces */
      username?: string | undefined
      /** `false`: share no read markers, and see none of others */
      receipts?: boolean | undefined
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
   * @param request the request, or its headers
   * @throws ChatError `unauthenticated`, `session_expired`
   */
  authenticate(request: Headers | Request): Promise<Actor>
}
