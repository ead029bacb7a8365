// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { CallOptions } from '../client/call-options.ts'

/** `client.emails`. */
export interface EmailsClient {
  /**
   * Confirm another email address with a mailed token.
   *
   * Needs no session and creates none. The former address gets a mail with a link that undoes the change for 72
   * hours, if it was verified and no earlier change can still be undone. The token works once.
   *
   * @throws ChatError `not_found`, `validation_failed`
   */
  confirmChange(input: { token: string }, options?: CallOptions): Promise<void>

  /**
   * Request another email address.
   *
   * Mails a link to the new address, which is valid for a day; until it is confirmed the address stays. The response
   * is the same if another account has the address. Requires a sign-in, or a confirmed password, of the last ten
   * minutes (`confirmation_required`). `conflict` if the service sends no mail.
   *
   * @throws ChatError `conflict`, `confirmation_required`, `validation_failed`
   */
  requestChange(
    input: {
      /** An email address; outer spaces are trimmed */
      email: string
    },
    options?: CallOptions,
  ): Promise<void>

  /**
   * Request a mail to verify your email address.
   *
   * The mailed link is valid for a day. No mail is sent to a verified address. `conflict` if the service sends no
   * mail. One address gets at most five mails at once, then one in five minutes (`rate_limited`).
   *
   * @throws ChatError `conflict`
   */
  sendVerification(options?: CallOptions): Promise<void>

  /**
   * Undo a change of the email address with a mailed token.
   *
   * Gives the account its former address back, tells the address that loses the account, and ends all sessions, API
   * keys and mailed links of the user. Needs no session and creates none. The token works once, for 72 hours.
   *
   * @throws ChatError `not_found`, `validation_failed`
   */
  undoChange(input: { token: string }, options?: CallOptions): Promise<void>

  /**
   * Verify an email address with a mailed token.
   *
   * Needs no session and creates none. The token works once, for a day.
   *
   * @throws ChatError `not_found`, `validation_failed`
   */
  verify(input: { token: string }, options?: CallOptions): Promise<void>
}
