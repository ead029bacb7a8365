// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { CallOptions } from '../client/call-options.ts'
import type { User } from './users.ts'

/** `client.setup`. */
export interface SetupClient {
  /**
   * Get the set-up status.
   *
   * Returns whether a first user exists. Until then, the first caller of `POST /api/setup` becomes the
   * administrator.
   */
  get(options?: CallOptions): Promise<SetupStatus>

  /**
   * Create the first administrator.
   *
   * Works once: of two simultaneous calls, one succeeds. Afterwards every call is `already_set_up`, whatever its
   * body. Does not sign in. If `setup.code` is configured, a call without it is `forbidden`.
   *
   * @throws ChatError `already_set_up`, `forbidden`, `validation_failed`
   */
  run(
    input: {
      /** An email address; outer spaces are trimmed */
      email: string
      /** At least 8 characters, and at most 72 bytes of UTF-8, after NFKC normalisation */
      password: string
      /** Visible characters, no outer spaces. Default: the email address up to its @ */
      username?: string | undefined
      /** Shown instead of the username: visible, or empty; no control characters and no bidirectional control characters */
      display_name?: string | undefined
      /** The value of `setup.code`, if configured */
      setup_code?: string | undefined
    },
    options?: CallOptions,
  ): Promise<SetupDone>
}

export interface SetupStatus {
  is_setup: boolean
}

export interface SetupDone {
  is_setup: true
  user: User
}
