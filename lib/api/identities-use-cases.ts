// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { Actor } from '../core/actor.ts'
import type { OwnIdentities } from './identities.ts'

/** `chat.identities`. */
export interface IdentitiesUseCases {
  /**
   * The identities at providers that are linked to the actor, newest first. @throws ChatError `forbidden` with an
   * API key
   */
  list(actor: Actor): Promise<OwnIdentities>

  /**
   * Removes an identity of the actor: it can no longer sign in.
   *
   * @throws ChatError `forbidden` with an API key; `not_found`; `conflict` for the only means of sign-in
   */
  remove(actor: Actor, identity_id: string): Promise<void>
}
