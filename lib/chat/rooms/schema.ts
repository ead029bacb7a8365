import * as v from 'valibot'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { Id, Instant, Limit, opaque, text } from '../../core/schema.ts'
import { JoinPolicy, Visibility } from '../conversations/schema-settings.ts'

export const DirectoryQuery = v.object({
  query: v.optional(
    v.pipe(text(MAX_LENGTH.search), v.description('Only rooms with such titles, as `query` of `GET /api/users`')),
  ),
  after: v.optional(v.pipe(opaque(4_000), v.description('`next_after` of the previous page'))),
  limit: Limit(50, 200),
})
export type DirectoryQuery = v.InferOutput<typeof DirectoryQuery>

/** A conversation that users see without participating. */
export const PublicRoom = v.object({
  id: Id,
  title: v.string(),
  topic: v.optional(v.string()),
  icon: v.optional(v.string()),
  visibility: Visibility,
  join: JoinPolicy,
  participant_count: v.pipe(v.number(), v.integer()),
  joined: v.pipe(v.boolean(), v.description('Whether the caller participates')),
  frozen_at: v.optional(Instant),
})
export type PublicRoom = v.InferOutput<typeof PublicRoom>

/** A page of the directory, by title. With a query it may have fewer than `limit` although more follow. */
export const Directory = v.object({ conversations: v.array(PublicRoom), next_after: v.optional(v.string()) })
export type Directory = v.InferOutput<typeof Directory>
