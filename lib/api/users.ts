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
   * Missing fields keep their value; `email_taken` and `username_taken` if another user has the new one. Disabling
   * ends the sessions and streams of the user at once. A new email address is unverified, unless `email_verified` is
   * true. The last active administrator can neither be disabled nor lose the role (`conflict`).
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
      /** An empty text removes it */
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
      /** Shown instead of the username; no control characters and no bidirectional control characters */
      display_name?: string | undefined
    },
    options?: CallOptions,
  ): Promise<AccountAnswer>

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
      /** `next_after` of the previous page */
      after?: string | undefined
      /** At most 200; larger values are lowered to it */
      limit?: number | undefined
    },
    options?: CallOptions,
  ): Promise<AccountPage>

  /**
   * Revoke all access to a compromised account.
   *
   * Ends sessions with their streams, API keys, provider identities, password links, known browsers and the user's
   * invites at once. The account and its password stay: also change the password, or disable the account, if needed.
   *
   * @throws ChatError `not_found`
   */
  lockDown(user_id: string, options?: CallOptions): Promise<Lockdown>
}

/** A user as the user reads it. */
export interface User {
  id: string
  email: string
  /** Whether the address was verified to belong to the user */
  email_verified: boolean
  username: string
  display_name?: string
  roles: ('admin' | 'member' | 'read_only')[]
}

/** A user as an administrator reads it. */
export interface Account {
  id: string
  email: string
  /** Whether the address was verified to belong to the user */
  email_verified: boolean
  username: string
  display_name?: string
  roles: ('admin' | 'member' | 'read_only')[]
  created_at: string
  disabled_at?: string
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

export interface AccountAnswer {
  user: Account
}
