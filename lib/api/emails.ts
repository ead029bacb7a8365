// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { CallOptions } from '../client/call-options.ts'
import type { Actor } from '../core/actor.ts'
import type { Client } from './sessions.ts'

/** `chat.emails`. */
export interface EmailsUseCases {
  /**
   * Mails the actor a link that verifies the address of the account; sends nothing to a verified address.
   *
   * @throws ChatError `forbidden` with an API key; `conflict` if the service sends no mail; `rate_limited`;
   * `unavailable` if the queue of mails is full
   */
  sendVerification(actor: Actor): Promise<void>

  /**
   * Verifies an address with the token of a mailed link. The other links of the user become invalid.
   *
   * @throws ChatError `not_found` for a token that is unknown, expired or used, or for an address the user no longer
   * has; `validation_failed`
   */
  verify(client: Client, input: { token: string }): Promise<void>
}

/** `client.emails`. */
export interface EmailsClient {
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
   * Verify an email address with a mailed token.
   *
   * Needs no session and creates none. The token works once, for a day.
   *
   * @throws ChatError `not_found`, `validation_failed`
   */
  verify(input: { token: string }, options?: CallOptions): Promise<void>
}
