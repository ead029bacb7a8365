// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { Actor } from '../core/actor.ts'
import type { Accepted, CreatedInvite, Invites } from './invites.ts'
import type { Client, SignedIn } from './users.ts'

/** `chat.invites`. */
export interface InvitesUseCases {
  /**
   * Creates an invite to a conversation. Its token is returned only here, or mailed; the database has a digest.
   *
   * @throws ChatError `not_found`; `forbidden` below admin, to invite an owner without being one, and with an API
   * key to invite an owner or admin; `conflict` to mail it without an address, or if the service sends no mail;
   * `rate_limited`; `validation_failed`
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
      /** Mail the token to `email`, and do not return it: accepting then verifies the address */
      mail?: boolean | undefined
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

  /** Revokes an invite by its id instead of its token. @throws ChatError `not_found`, `forbidden` */
  revokeById(actor: Actor, invite_id: string): Promise<void>
}
