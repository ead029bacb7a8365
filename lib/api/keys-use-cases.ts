// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { Actor } from '../core/actor.ts'
import type { ApiKeys, CreatedKey, KeysOfUsers } from './keys.ts'

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

  /**
   * The keys of all users or of one, newest first, including recently expired ones.
   *
   * @throws ChatError `forbidden`, also with an API key; `validation_failed`
   */
  listAll(
    actor: Actor,
    input?: {
      /** Only the keys of this user */
      user_id?: string | undefined
      /** `next_after` of the previous page */
      after?: string | undefined
      /** At most 200; larger values are lowered to it */
      limit?: number | undefined
    },
  ): Promise<KeysOfUsers>

  /**
   * Revokes a key of any user and closes its streams. A key that does not exist any more is no error.
   *
   * @throws ChatError `forbidden`, also with an API key
   */
  revokeAny(actor: Actor, key_id: string): Promise<void>
}
