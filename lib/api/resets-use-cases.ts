// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { Actor } from '../core/actor.ts'
import type { Client, ResetLink } from './users.ts'

/** `chat.resets`. */
export interface ResetsUseCases {
  /**
   * Mails a token that sets a new password, if the account exists and is not disabled. The response and its time are
   * the same for an unknown address: a mail to it is queued as well, and dropped when it is its turn. Above the rate
   * it does nothing, for any address; nor while a mail to the address waits. Earlier tokens stay valid.
   *
   * @throws ChatError `validation_failed`
   */
  request(client: Client, input: { email: string }): Promise<void>

  /**
   * Creates a token that sets a new password, for an administrator to deliver.
   *
   * @throws ChatError `forbidden`, also with an API key; `not_found` without such an account; `account_disabled`;
   * `confirmation_required` for the actor's own account; `validation_failed`
   */
  issue(actor: Actor, input: { email: string }): Promise<ResetLink>

  /**
   * Sets a new password with a token. It invalidates all tokens of the user: of several calls at once one succeeds.
   * All sessions and API keys of the user end, with their streams, and so does what a thief may have prepared. It
   * does not sign in, but clears failed sign-ins and makes the browser a known one, so that password guesses of
   * others do not lock the user out of it. If the address was unverified, every means of access ends, keys in any
   * case.
   *
   * @returns the token of the known browser
   * @throws ChatError `not_found` for a token that is unknown, expired or used; `unavailable` when too many
   * passwords wait to be hashed; `validation_failed`
   */
  redeem(
    client: Client,
    input: {
      token: string
      /** At least 8 characters, and at most 72 bytes of UTF-8, after NFKC normalisation */
      password: string
      /** Keep the API keys of the user */
      keep_keys?: boolean | undefined
    },
  ): Promise<{ device: string }>
}
