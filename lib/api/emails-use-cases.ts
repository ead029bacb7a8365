// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { Actor } from '../core/actor.ts'
import type { Client } from './users.ts'

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

  /**
   * Mails a link to a new address of the actor, which confirms it. Until then the address stays. The response is the
   * same for an address that another account has, which gets no mail. An earlier request ends.
   *
   * @throws ChatError `forbidden` with an API key; `confirmation_required`; `conflict` if the service sends no mail;
   * `rate_limited`; `unavailable` if the queue of mails is full; `validation_failed`
   */
  requestChange(
    actor: Actor,
    input: {
      /** An email address; outer spaces are trimmed */
      email: string
    },
  ): Promise<void>

  /**
   * Changes the address of an account with the token of the link that was mailed to the new one. Links mailed to the
   * former address become invalid. If it was verified, it gets a mail: with a link that undoes the change for 72
   * hours, or without one if it is itself the result of a change that can still be undone.
   *
   * @throws ChatError `not_found` for a token that is unknown, expired or used, or if another account has the
   * address; `validation_failed`
   */
  confirmChange(client: Client, input: { token: string }): Promise<void>

  /**
   * Gives an account its former address back, with the token of the link that was mailed there. All sessions and API
   * keys of the user end, and so do requests to change the address, and links to set a password: another person may
   * have got into the account. The address that loses the account gets a mail.
   *
   * @throws ChatError `not_found` as `confirmChange`; `validation_failed`
   */
  undoChange(client: Client, input: { token: string }): Promise<void>
}
