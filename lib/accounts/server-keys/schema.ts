import * as v from 'valibot'
import { AnyInstant, Id, Instant } from '../../core/schema.ts'
import { KeyName } from '../api-keys/schema.ts'

/** What a server key may allow. */
export const SERVER_KEY_SCOPES = ['act_as', 'system', 'users'] as const

export const ServerKeyScope = v.pipe(
  v.picklist(SERVER_KEY_SCOPES),
  v.description(
    '`act_as`: acts for users who are no administrators; `system`: acts as a part of the application; `users`: creates, changes, merges and erases users by `subject`',
  ),
)
export type ServerKeyScope = v.InferOutput<typeof ServerKeyScope>

export const ServerKeyInput = v.object({
  name: KeyName,
  scopes: v.pipe(v.array(ServerKeyScope), v.minLength(1), v.maxLength(SERVER_KEY_SCOPES.length)),
  expires_at: v.optional(v.pipe(AnyInstant, v.description('Without it, the key is valid until revoked'))),
})
export type ServerKeyInput = v.InferOutput<typeof ServerKeyInput>

/** A server key as the operator reads it. */
export const ServerKey = v.object({
  id: Id,
  name: v.string(),
  scopes: v.array(ServerKeyScope),
  created_at: Instant,
  expires_at: v.optional(Instant),
  last_used_at: v.optional(Instant),
})
export type ServerKey = v.InferOutput<typeof ServerKey>

/** A created server key; `key` itself is returned only here. */
export const CreatedServerKey = v.object({
  ...ServerKey.entries,
  key: v.pipe(v.string(), v.description('For `Authorization: Bearer`; shown only once')),
})
export type CreatedServerKey = v.InferOutput<typeof CreatedServerKey>

export const ServerKeys = v.object({ keys: v.array(ServerKey) })
export type ServerKeys = v.InferOutput<typeof ServerKeys>
