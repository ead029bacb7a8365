// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { CallOptions } from '../client/call-options.ts'
import type { LoginAnswer } from './users.ts'

/** `client.oauth`. */
export interface OauthClient {
  /**
   * Start a sign-in through a provider.
   *
   * Returns the URL to send the browser to, and sets a short-lived cookie that binds the attempt to this browser.
   * With `link=true` the identity is added to the signed-in account; this requires a sign-in within the last ten
   * minutes, or `POST /api/auth/confirm`.
   *
   * @throws ChatError `not_found`, `unauthenticated`, `forbidden`, `confirmation_required`, `setup_required`,
   * `oauth_provider_error`, `validation_failed`
   */
  begin(
    provider: string,
    input?: {
      /** Where the browser goes afterwards: a path of this site */
      redirect_to?: string | undefined
      /** Adds the identity to the account that is signed in */
      link?: boolean | undefined
    },
    options?: CallOptions,
  ): Promise<OauthBegun>

  /**
   * Sign in with a manually copied provider code.
   *
   * For developers: takes a provider code copied by hand. 404 if `server.public_url` begins with `https://`, unless
   * `oauth.manual_enabled = true`; always 404 with `false`.
   *
   * @throws ChatError `not_found`, `setup_required`, `oauth_state_invalid`, `oauth_provider_error`, `forbidden`,
   * `account_disabled`, `signup_disabled`, `email_taken`, `username_taken`, `conflict`, `validation_failed`
   */
  exchangeCode(
    provider: string,
    input: {
      auth_code: string
      /** Default: that of this browser's last attempt, if there is one */
      state?: string | undefined
    },
    options?: CallOptions,
  ): Promise<LoginAnswer>

  /**
   * Callback of a sign-in provider.
   *
   * The provider redirects the browser here. With `Accept: application/json` the response is that of a sign-in;
   * otherwise the browser is redirected to `redirect_to` of the attempt. An attempt can be completed once, within
   * ten minutes, by the browser that started it.
   *
   * @throws ChatError `not_found`, `oauth_state_invalid`, `oauth_denied`, `oauth_provider_error`, `forbidden`,
   * `account_disabled`, `signup_disabled`, `email_taken`, `username_taken`, `conflict`, `storage_full`,
   * `validation_failed`
   */
  finish(
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
    options?: CallOptions,
  ): Promise<LoginAnswer>
}

export interface OauthBegun {
  /** Where the browser goes to sign in */
  auth_url: string
}
