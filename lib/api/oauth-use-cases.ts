// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { Actor } from '../core/actor.ts'
import type { OauthBegun } from './oauth.ts'
import type { Client, SignedIn } from './users.ts'

/** `chat.oauth`. */
export interface OauthUseCases {
  /**
   * Starts a sign-in through a provider.
   *
   * @returns the URL to redirect the browser to, and the value of its cookie: `client.binding` of the callback
   * @throws ChatError `not_found` for a provider without credentials; `setup_required`; `unauthenticated` to link
   * without a session, `forbidden` with an API key, `confirmation_required`; `oauth_provider_error`;
   * `validation_failed`
   */
  begin(
    actor: Actor | undefined,
    client: Client,
    provider: string,
    input?: {
      /** Where the browser goes afterwards: a path of this site */
      redirect_to?: string | undefined
      /** Adds the identity to the account that is signed in */
      link?: boolean | undefined
    },
  ): Promise<OauthBegun & { binding: string }>

  /**
   * Completes a sign-in through a provider: the user gets a session, or the identity is linked to the account the
   * user is signed in to.
   *
   * @throws ChatError `not_found`; `oauth_state_invalid` unless this browser started it here, less than ten minutes
   * ago, and has not completed it; `oauth_denied`; `oauth_provider_error`; `forbidden`, `account_disabled`,
   * `signup_disabled`, `email_taken`, `username_taken`, `conflict`, `storage_full`, `validation_failed`
   */
  finish(
    actor: Actor | undefined,
    client: Client,
    provider: string,
    input?: {
      /** The authorization code from the provider */
      code?: string | undefined
      /** The state of the attempt, as sent to the provider */
      state?: string | undefined
      /** The issuer, if the provider sends it */
      iss?: string | undefined
      /** Error of the provider instead of a code, such as `access_denied` */
      error?: string | undefined
    },
  ): Promise<{ signed_in: SignedIn; redirect_to: string }>

  /**
   * Completes a sign-in with a code that was copied by hand. Without a state, the attempt is this browser's last
   * one, or none: then nothing proves that this browser requested the code.
   *
   * @throws ChatError as `finish`; `not_found` too where `oauth.manual_enabled` is off; `setup_required`;
   * `oauth_state_invalid`, `oauth_provider_error`, `forbidden`, `account_disabled`, `signup_disabled`,
   * `email_taken`, `username_taken`, `conflict`, `validation_failed`
   */
  exchangeCode(
    actor: Actor | undefined,
    client: Client,
    provider: string,
    input: {
      auth_code: string
      /** Default: that of this browser's last attempt, if there is one */
      state?: string | undefined
    },
  ): Promise<SignedIn>
}
