// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { CallOptions } from '../client/call-options.ts'

/** `client.resets`. */
export interface ResetsClient {
  /**
   * Reset the password with a mailed token.
   *
   * The token works once, for an hour. Ends all sessions and, without `keep_keys`, all API keys of the user, and
   * mailed links that could take the account away again; resets failed sign-ins. If the address was not verified, it
   * ends every other access. Does not sign in, but sets a cookie that marks the browser as known: guesses of others
   * do not lock the user out of it.
   *
   * @throws ChatError `not_found`, `validation_failed`
   */
  redeem(
    input: {
      token: string
      /** At least 8 characters, and at most 72 bytes of UTF-8, after NFKC normalisation */
      password: string
      /** Keep the API keys of the user */
      keep_keys?: boolean | undefined
    },
    options?: CallOptions,
  ): Promise<void>

  /**
   * Request a mail to reset the password.
   *
   * The response and its time are the same whether or not the account exists.
   *
   * @throws ChatError `validation_failed`
   */
  request(input: { email: string }, options?: CallOptions): Promise<void>
}
