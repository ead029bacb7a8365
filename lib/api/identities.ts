// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { CallOptions } from '../client/call-options.ts'

/** `client.identities`. */
export interface IdentitiesClient {
  /**
   * List the providers you can sign in through.
   *
   * The linked identities at sign-in providers, newest first; at most 50.
   */
  list(options?: CallOptions): Promise<OwnIdentities>

  /**
   * Unlink a provider from your account.
   *
   * The identity no longer signs in; sessions stay. The only way into an account without a password cannot be
   * removed (`conflict`): first link another provider, or set a password with a reset link.
   *
   * @throws ChatError `not_found`, `conflict`
   */
  remove(identity_id: string, options?: CallOptions): Promise<void>
}

export interface OwnIdentities {
  identities: OwnIdentity[]
}

/** An identity at a sign-in provider, as its user reads it. */
export interface OwnIdentity {
  id: string
  /** The configured name of the provider */
  provider: string
  /** The email address at the provider */
  issuer: string
  /** The id of the user at the provider */
  subject: string
  /** When it was linked */
  created_at: string
}
