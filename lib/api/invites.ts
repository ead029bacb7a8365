// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { CallOptions } from '../client/call-options.ts'
import type { Actor } from '../core/actor.ts'
import type { Client, SignedIn } from './sessions.ts'

/** `chat.invites`. */
export interface InvitesUseCases {
  /**
   * Creates an invite to a conversation. Its token is returned only here; the database has a digest.
   *
   * @throws ChatError `not_found`; `forbidden` below admin, or to invite an owner without being one;
   * `validation_failed`
   */
  create(
    actor: Actor,
    conversation_id: string,
    input?: {
      /** Only the user with this address may accept */
      email?: string | undefined
      role?: 'owner' | 'admin' | 'member' | 'viewer' | undefined
      ttl_seconds?: number | undefined
      /** At most `invites.max_uses` (100) */
      max_uses?: number | undefined
    },
  ): Promise<CreatedInvite>

  /**
   * A page of the invites that can still be accepted, latest first.
   *
   * @throws ChatError `not_found`; `forbidden` below admin; `invalid_cursor`; `validation_failed`
   */
  list(
    actor: Actor,
    conversation_id: string,
    input?: {
      /** `next_after` of the previous page */
      after?: string | undefined
      /** At most 1000; larger values are lowered to it */
      limit?: number | undefined
    },
  ): Promise<Invites>

  /**
   * Accepts an invite: the actor becomes a participant, or without an actor a new user, who is signed in. A
   * participant who accepts uses nothing up.
   *
   * @throws ChatError `not_found`; `invite_revoked`, also when its creator could not give that role now;
   * `invite_expired`, `invite_used`; `invite_email_mismatch`; `forbidden` for a read-only user; `unauthenticated`
   * with neither an actor nor an account to create; `signup_disabled`, `email_taken`, `username_taken`,
   * `rate_limited` for a sign-up; `conflict` for a third participant in a direct conversation; `validation_failed`
   */
  accept(
    actor: Actor | undefined,
    client: Client,
    input: {
      token: string
      /** Unique without regard to case; no control, invisible, bidirectional or variation characters, no outer spaces */
      username?: string | undefined
      /** An email address; outer spaces are trimmed */
      email?: string | undefined
      /** At least 8 characters, and at most 72 bytes of UTF-8, after NFKC normalisation */
      password?: string | undefined
    },
  ): Promise<Accepted & { signed_in?: SignedIn }>

  /**
   * Revokes an invite; does nothing if it is already revoked.
   *
   * @throws ChatError `not_found` for an actor outside the conversation who did not create it; `forbidden` for a
   * participant who neither created it nor is owner or admin
   */
  revoke(actor: Actor, token: string): Promise<void>

  /** The same by the id of an invite instead of its token. @throws ChatError `not_found`, `forbidden` */
  revokeById(actor: Actor, invite_id: string): Promise<void>
}

/** `client.invites`. */
export interface InvitesClient {
  /**
   * Accept an invite, with a session or by signing up.
   *
   * With a session, the caller becomes a participant. Without one, `username`, `email` and `password` create an
   * account and sign it in. A participant who accepts uses nothing up. An invite is revoked when its creator loses
   * the right to give its role (`invite_revoked`). `invites.*` configures which invites allow a sign-up
   * (`signup_disabled`).
   *
   * @throws ChatError `unauthenticated`, `forbidden`, `not_found`, `invite_revoked`, `invite_expired`,
   * `invite_used`, `invite_email_mismatch`, `signup_disabled`, `email_taken`, `username_taken`, `conflict`,
   * `validation_failed`
   */
  accept(
    input: {
      token: string
      /** Unique without regard to case; no control, invisible, bidirectional or variation characters, no outer spaces */
      username?: string | undefined
      /** An email address; outer spaces are trimmed */
      email?: string | undefined
      /** At least 8 characters, and at most 72 bytes of UTF-8, after NFKC normalisation */
      password?: string | undefined
    },
    options?: CallOptions,
  ): Promise<Accepted>

  /**
   * Create an invite; its token is shown once.
   *
   * Requires the role owner or admin; the role of the invite is limited to what the caller may give. With `email`,
   * only the user with that address can accept.
   *
   * @throws ChatError `not_found`, `forbidden`, `validation_failed`
   */
  create(
    conversation_id: string,
    input?: {
      /** Only the user with this address may accept */
      email?: string | undefined
      role?: 'owner' | 'admin' | 'member' | 'viewer' | undefined
      ttl_seconds?: number | undefined
      /** At most `invites.max_uses` (100) */
      max_uses?: number | undefined
    },
    options?: CallOptions,
  ): Promise<CreatedInvite>

  /**
   * List the invites that can still be accepted.
   *
   * The invites that are neither used up, expired nor revoked, without their tokens, newest first. Requires the role
   * owner or admin. Continue with `after`.
   *
   * @throws ChatError `not_found`, `forbidden`, `invalid_cursor`, `validation_failed`
   */
  list(
    conversation_id: string,
    input?: {
      /** `next_after` of the previous page */
      after?: string | undefined
      /** At most 1000; larger values are lowered to it */
      limit?: number | undefined
    },
    options?: CallOptions,
  ): Promise<Invites>

  /**
   * Revoke an invite.
   *
   * Allowed for its creator and for owners and admins of the conversation. Revoking it again changes nothing.
   *
   * @throws ChatError `not_found`, `forbidden`
   */
  revoke(token: string, options?: CallOptions): Promise<void>
}

/** A created invite; its token is returned only here. */
export interface CreatedInvite {
  token: string
  expires_at: string
  invite_id: string
}

/** A page of the invites that can still be accepted, latest first. */
export interface Invites {
  invites: Invite[]
  /** The total of all pages */
  total: number
  next_after?: string
}

/** An invite that can still be accepted. */
export interface Invite {
  id: string
  email?: string
  role: 'owner' | 'admin' | 'member' | 'viewer'
  uses: number
  max_uses: number
  created_by?: string
  created_at: string
  expires_at: string
}

export interface Accepted {
  conversation_id: string
}
