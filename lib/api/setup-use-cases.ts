// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { SetupDone, SetupStatus } from './setup.ts'
import type { Client } from './users.ts'

/** `chat.setup`. */
export interface SetupUseCases {
  /** Whether a user exists. */
  get(): Promise<SetupStatus>

  /**
   * Creates the first user, an administrator. Of several calls at once exactly one succeeds. It requires no code: a
   * caller within the process has the configuration.
   *
   * @throws ChatError `already_set_up`; `validation_failed`
   */
  run(input: {
    /** An email address; outer spaces are trimmed */
    email: string
    /** At least 8 characters, and at most 72 bytes of UTF-8, after NFKC normalisation */
    password: string
    /** Visible characters, no outer spaces. Default: the email address up to its @ */
    username?: string | undefined
    /** Shown instead of the username: visible, or empty; no control characters and no bidirectional control characters */
    display_name?: string | undefined
  }): Promise<SetupDone>

  /**
   * Creates the first user for a client, which sends the code if one is configured.
   *
   * @throws ChatError `already_set_up`; `forbidden` for a wrong code; `validation_failed`
   */
  runFrom(
    client: Client,
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
  ): Promise<SetupDone>

  /** @throws ChatError `already_set_up` */
  assertOpen(): Promise<void>
}
