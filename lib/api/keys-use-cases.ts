// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { Actor } from '../core/actor.ts'
import type { ApiKeys, CreatedKey } from './keys.ts'

/** `chat.keys`. */
export interface KeysUseCases {
  /**
   * Creates a key that acts as the actor. It is returned only here; the database has a digest.
   *
   * @throws ChatError `forbidden` with a key, and for the operator; `confirmation_required`; `validation_failed` for
   * an expiry in the past; `conflict` with too many keys, and where the host identifies callers (`ports.identity`);
   * `rate_limited`
   */
  create(
    actor: Actor,
    input: {
      /** At least one visible character, no control characters and no bidirectional control characters */
      name: string
      /** Without it, the key is valid until revoked */
      expires_at?: string | undefined
    },
  ): Promise<CreatedKey>

  /** The actor's keys, newest first, including recently expired ones. @throws ChatError `forbidden` with a key */
  list(actor: Actor): Promise<ApiKeys>

  /** Revokes a key of the actor and closes its streams. @throws ChatError `forbidden` with a key; `not_found` */
  revoke(actor: Actor, key_id: string): Promise<void>
}
