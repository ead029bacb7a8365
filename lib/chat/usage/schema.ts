import * as v from 'valibot'
import { Id, Instant, Limit } from '../../core/schema.ts'

/** What is summed up: the files and messages of a user, or those in a conversation. */
export const UsageKind = v.picklist(['user', 'conversation'])
export type UsageKind = v.InferOutput<typeof UsageKind>

export const UsageQuery = v.object({
  by: v.optional(
    v.pipe(UsageKind, v.description('Whether to sum up by uploader and author, or by conversation')),
    'user',
  ),
  after: v.optional(v.pipe(v.string(), v.maxLength(100), v.description('`next_after` of the previous page'))),
  limit: Limit(50, 200),
})
export type UsageQuery = v.InferOutput<typeof UsageQuery>

const Count = v.pipe(v.number(), v.integer(), v.minValue(0))

/** What a user or a conversation stores. */
export const StorageUsage = v.object({
  key: v.pipe(Id, v.description('The user or the conversation')),
  files: v.pipe(Count, v.description('Files whose bytes are stored')),
  bytes: v.pipe(Count, v.description('The bytes of files, as `attachments.per_user_bytes` counts them')),
  released_bytes: v.pipe(
    Count,
    v.description(
      'Those among them that are deleted later: of deleted messages and, of a user, of files that no message has any more',
    ),
  ),
  message_bytes: v.pipe(Count, v.description('The bytes of the texts of messages, in UTF-8')),
})
export type StorageUsage = v.InferOutput<typeof StorageUsage>

/** A page of what users or conversations store, largest first. */
export const StorageUsagePage = v.object({
  rows: v.array(StorageUsage),
  as_of: v.pipe(Instant, v.description('When it was begun to sum up')),
  next_after: v.optional(v.string()),
})
export type StorageUsagePage = v.InferOutput<typeof StorageUsagePage>
