// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { Capabilities } from './capabilities.ts'

/** `chat.capabilities`. */
export interface CapabilitiesUseCases {
  /** What the service offers and allows, as it is configured. Nothing in it is of a user, and nothing is secret. */
  get(): Capabilities
}
