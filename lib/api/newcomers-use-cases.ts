// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { Actor } from '../core/actor.ts'
import type { InvitedNewcomer, NewcomerPage } from './newcomers.ts'
import type { Client, SignedIn } from './users.ts'

/** `chat.newcomers`. */
export interface NewcomersUseCases {
  /**
   * Invites a newcomer to sign up with the mailed link: without a conversation, for one address, once. An earlier
   * invite to the address ends.
   *
   * @throws ChatError `forbidden`, also with an API key; `signup_disabled` with `invites.allow_signup = false`;
   * `email_taken`; `conflict` if it is to be mailed and the service sends no mail, or with too many open invites;
   * `validation_failed`
   */
  invite(
    actor: Actor,
    input: {
      /** An email address; outer spaces are trimmed */
      email: string
      roles?: ('admin' | 'member' | 'read_only')[] | undefined
      ttl_seconds?: number | undefined
      /** false: the token is returned and not mailed */
      mail?: boolean | undefined
    },
  ): Promise<InvitedNewcomer>

  /** A page of the open invites of newcomers, oldest first. @throws ChatError `forbidden`; `validation_failed` */
  list(
    actor: Actor,
    input?: {
      /** `next_after` of the previous page */
      after?: string | undefined
      /** At most 200; larger values are lowered to it */
      limit?: number | undefined
    },
  ): Promise<NewcomerPage>

  /** Revokes the invite of a newcomer. @throws ChatError `forbidden`, also with an API key; `not_found` */
  revoke(actor: Actor, invite_id: string): Promise<void>

  /**
   * Signs a newcomer up with the token of an invite, and in. The address is verified, since the link was mailed to
   * it.
   *
   * @throws ChatError `not_found` for a token that is unknown, expired, used or revoked, or whose maker administers
   * no more; `signup_disabled`; `email_taken`, `username_taken`; `unavailable` when too many passwords wait to be
   * hashed; `validation_failed`
   */
  signUp(
    client: Client,
    input: {
      token: string
      /** Unique without regard to case; no control, invisible, bidirectional or variation characters, no outer spaces */
      username: string
      /** At least 8 characters, and at most 72 bytes of UTF-8, after NFKC normalisation */
      password: string
      /** Shown instead of the username: visible, or empty; no control characters and no bidirectional control characters */
      display_name?: string | undefined
    },
  ): Promise<SignedIn>
}
