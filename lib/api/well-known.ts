// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { CallOptions } from '../client/call-options.ts'

/** `client.wellKnown`. */
export interface WellKnownAdminClient {
  /**
   * Get a well-known document, such as security.txt.
   *
   * The exact path of an entry of `well_known.entries`, which may contain slashes. Without `features.well_known`
   * everything under `/.well-known/` is 404.
   *
   * @throws ChatError `not_found`
   */
  get(path: string, options?: CallOptions): Promise<string>
}
