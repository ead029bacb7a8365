import * as v from 'valibot'
import { Cursor, Id, Instant, Limit, oneNamed } from '../../core/schema.ts'

/** Why a user is notified: the first reason that fits, for one message. */
export const NotificationKind = v.picklist(['mention', 'reply', 'mention_all', 'direct', 'added', 'approval', 'system'])
export type NotificationKind = v.InferOutput<typeof NotificationKind>

/** A webhook of the user that was disabled, as no call has succeeded for five days. With kind `system`. */
export const DisabledWebhook = v.object({ id: Id, host: v.string() })
export type DisabledWebhook = v.InferOutput<typeof DisabledWebhook>

/** Something that concerns a user. */
export const Notification = v.object({
  id: Id,
  kind: v.pipe(
    NotificationKind,
    v.description(
      '`mention`: of the user by name; `reply`: to a message of the user, a quote of one, or in a thread that the user follows; `mention_all`: of all participants; `direct`: messages of a direct conversation; `added`: to a conversation; `approval`: a call of a tool waits for a decision; `system`: of the service itself, without an actor',
    ),
  ),
  at: Instant,
  conversation_id: v.optional(v.pipe(Id, v.description('Missing for `system`'))),
  root_id: v.optional(Id),
  message_id: v.optional(Id),
  actor_user_id: v.optional(
    v.pipe(
      Id,
      v.description(
        'The user who caused it; missing for an answer of the assistant, for `system`, and for an erased user',
      ),
    ),
  ),
  excerpt: v.optional(v.pipe(v.string(), v.description('Up to 140 characters of the message as it is now'))),
  count: v.optional(
    v.pipe(
      v.number(),
      v.integer(),
      v.description(
        'While it is unread. Of kind `direct`: the unread messages of the conversation; of one that stands for a thread: its unread replies since the user follows it',
      ),
    ),
  ),
  webhook: v.optional(DisabledWebhook),
  read_at: v.optional(Instant),
})
export type Notification = v.InferOutput<typeof Notification>

export const NotificationsQuery = v.object({
  unread: v.optional(v.pipe(v.boolean(), v.description('`true`: only those that are not read'))),
  kind: v.optional(v.pipe(NotificationKind, v.description('Only those of this kind'))),
  conversation: v.optional(v.pipe(Id, v.description('Only those of this conversation'))),
  after: v.optional(Cursor),
  limit: Limit(50, 200),
})
export type NotificationsQuery = v.InferOutput<typeof NotificationsQuery>

/** A page of the inbox, newest first. */
export const NotificationPage = v.object({
  notifications: v.array(Notification),
  unread: v.pipe(v.number(), v.integer(), v.description('The number of unread notifications of the whole inbox')),
  next_after: v.optional(Cursor),
})
export type NotificationPage = v.InferOutput<typeof NotificationPage>

/** The number of notifications that one call marks as read by their ids. */
const MAX_IDS = 200

export const ReadByIds = v.object({
  ids: v.pipe(v.array(Id), v.maxLength(MAX_IDS, `must be at most ${MAX_IDS} entries`)),
})
export const ReadUpTo = v.object({ up_to: v.pipe(Id, v.description('This one and all older ones')) })

/** Which notifications are read: these, or all up to one of them. */
export const ReadNotifications = oneNamed(v.union([ReadByIds, ReadUpTo]), ['ids', 'up_to'])
export type ReadNotifications = v.InferOutput<typeof ReadNotifications>
