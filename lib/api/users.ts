// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { CallOptions } from '../client/call-options.ts'

/** `client.users`. */
export interface UsersClient {
  /**
   * Find users by a prefix of their username.
   *
   * Use it to find users to add to a conversation. Returns names and no email addresses.
   *
   * @throws ChatError `validation_failed`
   */
  search(
    input: {
      /** Prefix of a username: at least two characters without outer spaces */
      query: string
      /** At most 50; larger values are lowered to it */
      limit?: number | undefined
    },
    options?: CallOptions,
  ): Promise<People>
}

/** `client.users`. */
export interface UsersAdminClient {
  /**
   * Change the email address, roles, status, names or password of a user.
   *
   * Missing fields keep their value; `email_taken` and `username_taken` if another user has the new one. A new
   * password, a new email address and disabling end the sessions and streams of the user at once, API keys (those of
   * a disabled user work again when the user is enabled), reset links, requested changes of the address and links
   * that undo one. A new email address is unverified, unless `email_verified` is true. The last active administrator
   * can neither be disabled nor lose the role (`conflict`).
   *
   * @throws ChatError `confirmation_required`, `not_found`, `conflict`, `email_taken`, `username_taken`,
   * `validation_failed`
   */
  change(
    user_id: string,
    input?: {
      /** Unique without regard to case; no control, invisible, bidirectional or variation characters, no outer spaces */
      username?: string | undefined
      /** A new address is unverified unless `email_verified` is true as well */
      email?: string | undefined
      /** Whether the address counts as verified */
      email_verified?: boolean | undefined
      roles?: ('admin' | 'member' | 'read_only')[] | undefined
      /** true ends the sessions and streams of the user */
      disabled?: boolean | undefined
      /** At least one visible character; an empty text removes it */
      display_name?: string | undefined
      /** Ends the other sessions of the user */
      password?: string | undefined
    },
    options?: CallOptions,
  ): Promise<AccountAnswer>

  /**
   * Create a user.
   *
   * Without a password the user cannot sign in until one is set, for example with a reset link.
   *
   * @throws ChatError `email_taken`, `username_taken`, `validation_failed`
   */
  create(
    input: {
      /** Unique without regard to case; no control, invisible, bidirectional or variation characters, no outer spaces */
      username: string
      /** An email address; outer spaces are trimmed */
      email: string
      /** false: the address must still be verified, for example by a mailed link */
      email_verified?: boolean | undefined
      /** Without it, the user cannot sign in yet */
      password?: string | undefined
      roles?: ('admin' | 'member' | 'read_only')[] | undefined
      /** Shown instead of the username: visible, or empty; no control characters and no bidirectional control characters */
      display_name?: string | undefined
    },
    options?: CallOptions,
  ): Promise<AccountAnswer>

  /**
   * Get a user, and what belongs to the account.
   *
   * The account, whether it has a password, how many sessions, API keys, identities and conversations it has, and
   * until when failed sign-ins lock it.
   *
   * @throws ChatError `not_found`
   */
  describe(user_id: string, options?: CallOptions): Promise<AccountFacts>

  /**
   * End one session of a user.
   *
   * Its streams end too, at once. Not with an API key.
   *
   * @throws ChatError `not_found`
   */
  endSession(user_id: string, session_id: string, options?: CallOptions): Promise<void>

  /**
   * End all sessions of a user.
   *
   * Their streams end too, at once, and so do API keys, reset links, requested changes of the email address and
   * links that undo one. Not with an API key.
   *
   * @throws ChatError `not_found`
   */
  endSessions(user_id: string, options?: CallOptions): Promise<Revoked>

  /**
   * Erase a user, with or without their messages.
   *
   * Removes the account with its sessions, keys and identities. Messages stay without an author, or lose their text
   * with `messages=erase`. It cannot be undone. The last active administrator cannot be erased (`conflict`).
   *
   * @throws ChatError `not_found`, `conflict`, `validation_failed`
   */
  erase(
    user_id: string,
    input?: {
      /** `keep` keeps them without an author, `erase` erases their text */
      messages?: 'keep' | 'erase' | undefined
    },
    options?: CallOptions,
  ): Promise<void>

  /**
   * Create a link with which a user sets a new password.
   *
   * For an administrator to hand over: the token works once, for an hour, and is shown only here. `url` is missing
   * if the service does not know its public address. For your own account, it requires a sign-in within the last ten
   * minutes, or `POST /api/auth/confirm` (`confirmation_required`).
   *
   * @throws ChatError `not_found`, `account_disabled`, `confirmation_required`, `conflict`
   */
  issueReset(user_id: string, options?: CallOptions): Promise<ResetLink>

  /**
   * List users, oldest first.
   *
   * With `query`, only users whose username or email address begins with it.
   *
   * @throws ChatError `validation_failed`
   */
  list(
    input?: {
      /** Prefix of a username or an email address */
      query?: string | undefined
      /** Only the user with this id of the host's own */
      subject?: string | undefined
      /** `next_after` of the previous page */
      after?: string | undefined
      /** At most 200; larger values are lowered to it */
      limit?: number | undefined
    },
    options?: CallOptions,
  ): Promise<AccountPage>

  /**
   * List the sessions of a user, oldest first.
   *
   * The active sessions with the IP address and user agent of their last use.
   *
   * @throws ChatError `not_found`, `validation_failed`
   */
  listSessions(
    user_id: string,
    input?: {
      /** `next_after` of the previous page */
      after?: string | undefined
      /** At most 200; larger values are lowered to it */
      limit?: number | undefined
    },
    options?: CallOptions,
  ): Promise<SessionsOfUsers>

  /**
   * Revoke all access to a compromised account.
   *
   * Ends sessions with their streams, API keys, provider identities, mailed links, requested changes of the address,
   * known browsers and the user's invites at once. The account and its password stay: also change the password, or
   * disable the account, if needed.
   *
   * @throws ChatError `not_found`
   */
  lockDown(user_id: string, options?: CallOptions): Promise<Lockdown>

  /**
   * Forget the failed sign-ins of a user.
   *
   * The user may sign in again at once. Changes nothing for an account that is not locked.
   *
   * @throws ChatError `not_found`
   */
  unlock(user_id: string, options?: CallOptions): Promise<void>
}

/** A user as the user reads it. */
export interface User {
  id: string
  /** Missing for a user of a host that has given none */
  email?: string
  /** Whether the address was verified to belong to the user */
  email_verified: boolean
  username: string
  display_name?: string
  roles: ('admin' | 'member' | 'read_only')[]
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

/** A user as an administrator reads it. */
export interface Account {
  id: string
  /** Missing for a user of a host that has given none */
  email?: string
  /** Whether the address was verified to belong to the user */
  email_verified: boolean
  username: string
  display_name?: string
  roles: ('admin' | 'member' | 'read_only')[]
  created_at: string
  disabled_at?: string
  /** The host's own id of the user, where it has the login */
  subject?: string
}

export interface AccountPage {
  users: Account[]
  next_after?: string
}

/** Users as other users read them, for adding a user to a conversation. */
export interface People {
  users: Person[]
}

/** A user as other users read it. */
export interface Person {
  id: string
  username: string
  display_name?: string
}

/** An account with the numbers of what belongs to it, for an operator. */
export interface AccountFacts {
  user: Account
  has_password: boolean
  /** After too many failed sign-ins */
  locked_until?: string
  /** The last use of a session */
  last_seen_at?: string
  sessions: number
  /** API keys */
  keys: number
  /** Identities at sign-in providers */
  identities: number
  conversations: number
}

/** The number of sessions, keys, identities and invites that a lockdown has ended. */
export interface Lockdown {
  sessions: number
  /** API keys */
  keys: number
  /** Identities at sign-in providers */
  identities: number
  /** Invites created by the user, those of newcomers too, now revoked */
  invites: number
}

/** A one-time reset token; with `url` if the service knows its public address. */
export interface ResetLink {
  token: string
  url?: string
  expires_at: string
}

/** A page of live sessions, oldest first. */
export interface SessionsOfUsers {
  sessions: SessionOfUser[]
  next_after?: string
}

/** A live session of any user, as an administrator reads it. */
export interface SessionOfUser {
  id: string
  user_id: string
  username: string
  issued_at: string
  last_seen_at: string
  /** When it ends if it is not used */
  expires_at: string
  user_agent?: string
  ip?: string
}

/** How many sessions have ended. */
export interface Revoked {
  revoked: number
}

export interface AccountAnswer {
  user: Account
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
