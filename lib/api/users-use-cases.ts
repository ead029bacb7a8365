// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { Actor } from '../core/actor.ts'
import type {
  Account,
  AccountFacts,
  AccountPage,
  Lockdown,
  People,
  ResetLink,
  Revoked,
  SessionsOfUsers,
} from './users.ts'

/** `chat.users`. */
export interface UsersUseCases {
  /**
   * Creates a user, as an administrator.
   *
   * @throws ChatError `forbidden`, also with an API key for a user with a password or the role `admin`;
   * `setup_required` before the first user exists; `email_taken`, `username_taken`; `validation_failed`
   */
  create(
    actor: Actor,
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
  ): Promise<{ user: Account }>

  /**
   * A page of users, oldest first.
   *
   * @throws ChatError `forbidden`; `validation_failed`
   */
  list(
    actor: Actor,
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
  ): Promise<AccountPage>

  /**
   * The account with this id, username or email address.
   *
   * @throws ChatError `forbidden`; `not_found`; `conflict` when one user's name is another one's address
   */
  find(actor: Actor, name: string): Promise<Account>

  /**
   * Users whose username begins with the query, by name: for finding users to add.
   *
   * @throws ChatError `validation_failed`
   */
  search(
    actor: Actor,
    input: {
      /** Prefix of a username: at least two characters without outer spaces */
      query: string
      /** At most 50; larger values are lowered to it */
      limit?: number | undefined
    },
  ): Promise<People>

  /**
   * The actor of a user, for calls in the user's name without a session.
   *
   * @throws ChatError `not_found`, `account_disabled`
   */
  actor(user_id: string): Promise<Actor>

  /**
   * The user of a person of the host's: the same at every call, and the same that `ports.identity` finds for this
   * subject. A new subject becomes a user; of a known one the given fields are stored. A username or an email
   * address that another user has is not taken over: the user keeps the old one, or gets a placeholder.
   *
   * @throws ChatError `forbidden` unless the actor is an administrator, and with an API key; `validation_failed`
   */
  ensure(
    actor: Actor,
    input: {
      /** Your own id of the person: it never changes and is never reused for another person */
      subject: string
      /** Unique without regard to case; no control, invisible, bidirectional or variation characters, no outer spaces */
      username?: string | undefined
      /** It counts as verified: the host vouches for it */
      email?: string | undefined
      /** At least one visible character; an empty text removes it */
      display_name?: string | undefined
      roles?: ('admin' | 'member' | 'read_only')[] | undefined
    },
  ): Promise<{ user: Account }>

  /**
   * The actor of a person of the host's, for calls in the person's name.
   *
   * @throws ChatError `not_found` for a subject that neither `users.ensure` nor `ports.identity` has named yet;
   * `account_disabled`; `validation_failed`
   */
  actorOf(subject: string): Promise<Actor>

  /**
   * Changes an account, effective at once: a disabled user's sessions end and their streams close, new roles apply
   * from the next request, a new password ends the user's other sessions.
   *
   * @throws ChatError `forbidden`, also with an API key for anything but the display name, and for a password, roles
   * or an address of a system actor; `not_found`; `confirmation_required` for another address and for the actor's
   * own password; `email_taken`, `username_taken`; `conflict` for the last administrator; `validation_failed`
   */
  change(
    actor: Actor,
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
  ): Promise<{ user: Account }>

  /**
   * An account with the numbers of what belongs to it, and until when failed sign-ins lock it.
   *
   * @throws ChatError `forbidden`; `not_found`
   */
  describe(actor: Actor, user_id: string): Promise<AccountFacts>

  /**
   * Forgets the failed sign-ins of an account, which may sign in again at once.
   *
   * @throws ChatError `forbidden`, also with an API key; `not_found`
   */
  unlock(actor: Actor, user_id: string): Promise<void>

  /**
   * Erases a user, named by id or by the host's own `{ subject }`: sessions, keys, identities and all other data of
   * the account, and all memberships. The user's messages stay without an author, or are erased too.
   *
   * From the first transaction on the account is locked, and no read returns the author, nor with `erase` the texts.
   * The account is deleted by the end of the call. A task processes the messages afterwards, and also finishes an
   * interrupted call.
   *
   * @throws ChatError `forbidden`, also with an API key; `not_found`; `conflict` for the last administrator;
   * `validation_failed`
   */
  erase(
    actor: Actor,
    user: string | { subject: string },
    input?: {
      /** `keep` keeps them without an author, `erase` erases their text */
      messages?: 'keep' | 'erase' | undefined
    },
  ): Promise<void>

  /**
   * Ends everything that others may have got hold of: every means of access to the account. The account and its
   * password stay.
   *
   * @returns the number of sessions, keys, identities and invites that ended
   * @throws ChatError `forbidden`, also with an API key; `not_found`
   */
  lockDown(actor: Actor, user_id: string): Promise<Lockdown>

  /**
   * Creates a token that sets a new password of a user, for an administrator to deliver.
   *
   * @throws ChatError `forbidden`, also with an API key; `not_found`; `account_disabled`; `confirmation_required`
   * for the actor's own account; `conflict` if the account changes during the call
   */
  issueReset(actor: Actor, user_id: string): Promise<ResetLink>

  /**
   * The live sessions of a user, oldest first.
   *
   * @throws ChatError `forbidden`; `not_found` for a user that does not exist; `validation_failed`
   */
  listSessions(
    actor: Actor,
    user_id: string,
    input?: {
      /** `next_after` of the previous page */
      after?: string | undefined
      /** At most 200; larger values are lowered to it */
      limit?: number | undefined
    },
  ): Promise<SessionsOfUsers>

  /**
   * Ends all sessions of a user at once, with what `revoke` ends; their streams close.
   *
   * @returns the number of sessions ended
   * @throws ChatError `forbidden`, also with an API key; `not_found` for a user that does not exist
   */
  endSessions(actor: Actor, user_id: string): Promise<Revoked>

  /**
   * Ends one session of a user at once; its streams close.
   *
   * @throws ChatError `forbidden`, also with an API key; `not_found`, also for a session of another user
   */
  endSession(actor: Actor, user_id: string, session_id: string): Promise<void>
}
