import * as v from 'valibot'
import { isLabel, PATTERNS } from '../../core/characters.ts'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { AnyInstant, Id, Instant, text } from '../../core/schema.ts'

/** The purpose of a key, named by its user. */
export const KeyName = v.pipe(
  text(MAX_LENGTH.label),
  v.check(isLabel, 'must be visible, with no control characters'),
  v.metadata({ minLength: 1, pattern: PATTERNS.label }),
  v.description('At least one visible character, no control characters and no bidirectional control characters'),
)

export const ApiKeyInput = v.object({
  name: KeyName,
  expires_at: v.optional(v.pipe(AnyInstant, v.description('Without it, the key is valid until revoked'))),
})
export type ApiKeyInput = v.InferOutput<typeof ApiKeyInput>

/** A created key; `key` itself is returned only here. */
export const CreatedKey = v.object({
  id: Id,
  name: v.string(),
  key: v.pipe(v.string(), v.description('For `Authorization: Bearer`; shown only once')),
  expires_at: v.optional(Instant),
})
export type CreatedKey = v.InferOutput<typeof CreatedKey>

/** A key as its user reads it later. */
export const ApiKey = v.object({
  id: Id,
  name: v.string(),
  created_at: Instant,
  expires_at: v.optional(Instant),
  last_used_at: v.optional(Instant),
})
export type ApiKey = v.InferOutput<typeof ApiKey>

export const ApiKeys = v.object({ keys: v.array(ApiKey) })
export type ApiKeys = v.InferOutput<typeof ApiKeys>
