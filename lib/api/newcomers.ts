// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { CallOptions } from '../client/call-options.ts'
import type { LoginAnswer } from './sessions.ts'

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
      /** Shown instead of the username; no control characters and no bidirectional control characters */
      display_name?: string | undefined
    },
    options?: CallOptions,
  ): Promise<LoginAnswer>
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
