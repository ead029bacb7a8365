import * as v from 'valibot'
import { Id, Limit } from '../../core/schema.ts'
import { ApiKey } from './schema.ts'

/** The user whose keys to list, a page at a time. */
export const KeysQuery = v.object({
  user_id: v.optional(v.pipe(Id, v.description('Only the keys of this user'))),
  after: v.optional(v.pipe(Id, v.description('`next_after` of the previous page'))),
  limit: Limit(50, 200),
})
export type KeysQuery = v.InferOutput<typeof KeysQuery>

/** A key of any user, as an administrator reads it. */
export const KeyOfUser = v.object({ ...ApiKey.entries, user_id: Id })
export type KeyOfUser = v.InferOutput<typeof KeyOfUser>

/** A page of keys, newest first. */
export const KeysOfUsers = v.object({ keys: v.array(KeyOfUser), next_after: v.optional(Id) })
export type KeysOfUsers = v.InferOutput<typeof KeysOfUsers>
