// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { CallOptions } from '../client/call-options.ts'

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
   * Requires the role owner or admin; the role of the invite is limited to what the caller may give, with an API key
   * to `member` and `viewer`; such an invite ends with its key. With `email`, only the user with that address can
   * accept. With `mail: true` the service mails the token there and does not return it, and a sign-up with it
   * verifies the address; `conflict` without `email`, or if the service sends no mail.
   *
   * @throws ChatError `not_found`, `forbidden`, `conflict`, `validation_failed`
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
      /** Mail the token to `email`, and do not return it: accepting then verifies the address */
      mail?: boolean | undefined
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

/** A created invite; its token is returned only here, and not if it is mailed. */
export interface CreatedInvite {
  /** Missing with `mail: true` */
  token?: string
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
