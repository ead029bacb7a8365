// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
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
