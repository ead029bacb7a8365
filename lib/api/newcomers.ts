// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { CallOptions } from '../client/call-options.ts'
import type { LoginAnswer } from './users.ts'

/** `client.newcomers`. */
export interface NewcomersClient {
  /**
   * Sign up with a mailed invite.
   *
   * Creates the account that `chat-server user invite` has invited, and signs it in. The address is that of the
   * invite, and verified. The token works once.
   *
   * @throws ChatError `not_found`, `signup_disabled`, `email_taken`, `username_taken`, `validation_failed`
   */
  signUp(
    input: {
      token: string
      /** Unique without regard to case; no control, invisible, bidirectional or variation characters, no outer spaces */
      username: string
      /** At least 8 characters, and at most 72 bytes of UTF-8, after NFKC normalisation */
      password: string
      /** Shown instead of the username: visible, or empty; no control characters and no bidirectional control characters */
      display_name?: string | undefined
    },
    options?: CallOptions,
  ): Promise<LoginAnswer>
}

/** `client.newcomers`. */
export interface NewcomersAdminClient {
  /**
   * Invite a newcomer to the service.
   *
   * Mails a link to sign up with, or returns it with `mail: false`: `token`, and `url` if the service knows its
   * public address. It works once, for this address. An earlier invite to the address ends. `conflict` if it is to
   * be mailed and the service sends no mail.
   *
   * @throws ChatError `signup_disabled`, `email_taken`, `conflict`, `validation_failed`
   */
  invite(
    input: {
      /** An email address; outer spaces are trimmed */
      email: string
      roles?: ('admin' | 'member' | 'read_only')[] | undefined
      ttl_seconds?: number | undefined
      /** false: the token is returned and not mailed */
      mail?: boolean | undefined
    },
    options?: CallOptions,
  ): Promise<InvitedNewcomer>

  /**
   * List the open invites of newcomers, oldest first.
   *
   * The invites to the service that are neither used nor expired, without their tokens.
   *
   * @throws ChatError `validation_failed`
   */
  list(
    input?: {
      /** `next_after` of the previous page */
      after?: string | undefined
      /** At most 200; larger values are lowered to it */
      limit?: number | undefined
    },
    options?: CallOptions,
  ): Promise<NewcomerPage>

  /**
   * Revoke the invite of a newcomer.
   *
   * Its link is invalid at once.
   *
   * @throws ChatError `not_found`
   */
  revoke(invite_id: string, options?: CallOptions): Promise<void>
}

export interface InvitedNewcomer {
  id: string
  email: string
  roles: ('admin' | 'member' | 'read_only')[]
  created_by?: string
  created_at: string
  expires_at: string
  mailed: boolean
  token?: string
  url?: string
}

/** A page of the open invites of newcomers, oldest first. */
export interface NewcomerPage {
  invites: Newcomer[]
  next_after?: string
}

/** An invite of a newcomer; `token` and `url` if it is not mailed. */
export interface Newcomer {
  id: string
  email: string
  roles: ('admin' | 'member' | 'read_only')[]
  created_by?: string
  created_at: string
  expires_at: string
}
