// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { CallOptions } from '../client/call-options.ts'
import type { WellKnownEntry } from './config.ts'

/** `chat.wellKnown`. */
export interface WellKnownUseCases {
  /**
   * The document that is configured under exactly this path.
   *
   * @throws ChatError `not_found`
   */
  get(path: string): WellKnownEntry
}

/** `client.wellKnown`. */
export interface WellKnownClient {
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
