// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { CallOptions } from '../client/call-options.ts'

/** `client.keys`. */
export interface KeysClient {
  /**
   * Create an API key that acts as you.
   *
   * The key is shown only once. It acts as the user on every call except those about sessions, keys and the
   * password. A user has at most 50 keys. Requires a sign-in within the last ten minutes, or `POST
   * /api/auth/confirm` (`confirmation_required`).
   *
   * @throws ChatError `confirmation_required`, `conflict`, `validation_failed`
   */
  create(
    input: {
      /** At least one visible character, no control characters and no bidirectional control characters */
      name: string
      /** Without it, the key is valid until revoked */
      expires_at?: string | undefined
    },
    options?: CallOptions,
  ): Promise<CreatedKey>

  /**
   * List your API keys.
   *
   * Each key without its secret, and when it was last used, to the minute.
   */
  list(options?: CallOptions): Promise<ApiKeys>

  /**
   * Revoke one of your API keys.
   *
   * The key is refused from the next call on, and its streams end.
   *
   * @throws ChatError `not_found`
   */
  revoke(key_id: string, options?: CallOptions): Promise<void>
}

/** `client.keys`. */
export interface KeysAdminClient {
  /**
   * List the API keys of all users or of one, newest first.
   *
   * Each key without its secret, and when it was last used, to the minute. Not with an API key.
   *
   * @throws ChatError `validation_failed`
   */
  listAll(
    input?: {
      /** Only the keys of this user */
      user_id?: string | undefined
      /** `next_after` of the previous page */
      after?: string | undefined
      /** At most 200; larger values are lowered to it */
      limit?: number | undefined
    },
    options?: CallOptions,
  ): Promise<KeysOfUsers>

  /**
   * Revoke an API key of any user.
   *
   * The key is refused from the next call on, and its streams end. Repeatable: 204 as well if the key does not
   * exist. Not with an API key.
   */
  revokeAny(key_id: string, options?: CallOptions): Promise<void>
}

/** A created key; `key` itself is returned only here. */
export interface CreatedKey {
  id: string
  name: string
  /** For `Authorization: Bearer`; shown only once */
  key: string
  expires_at?: string
}

export interface ApiKeys {
  keys: ApiKey[]
}

/** A key as its user reads it later. */
export interface ApiKey {
  id: string
  name: string
  created_at: string
  expires_at?: string
  last_used_at?: string
}

/** A page of keys, newest first. */
export interface KeysOfUsers {
  keys: KeyOfUser[]
  next_after?: string
}

/** A key of any user, as an administrator reads it. */
export interface KeyOfUser {
  id: string
  name: string
  created_at: string
  expires_at?: string
  last_used_at?: string
  user_id: string
}
