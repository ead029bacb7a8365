import * as v from 'valibot'
import { Id, Instant, Limit, text } from '../core/schema.ts'

/** Every mail that the service sends, by the name of its text. */
export const MailKind = v.picklist([
  'reset_password',
  'verify_email',
  'invite',
  'conversation_invite',
  'change_email',
  'undo_email',
  'key_created',
  'grant_created',
  'grant_replayed',
  'identity_linked',
  'email_changed',
  'password_changed',
  'webhook_disabled',
  'notification',
])
export type MailKind = v.InferOutput<typeof MailKind>

/** The longest address of a page in a mail. */
const MAX_LINK_LENGTH = 2048

/** The notification that a user is mailed. */
export const NotificationMail = v.object({
  user_id: Id,
  notification_id: Id,
  link: v.optional(
    v.pipe(
      text(MAX_LINK_LENGTH),
      v.url('must be a URL'),
      v.regex(/^https?:/i, 'must begin with http: or https:'),
      v.description('The page on which the user reads on'),
    ),
  ),
})
export type NotificationMail = v.InferOutput<typeof NotificationMail>

/** A mail that waits in the queue, or that was given up: never its text or its token. */
export const MailRecord = v.object({
  id: Id,
  kind: v.string(),
  user_id: v.optional(Id),
  status: v.picklist(['waiting', 'sending', 'failed']),
  queued_at: Instant,
  next_at: v.pipe(Instant, v.description('When it is tried again; of a failed mail, when it is deleted')),
  tries: v.pipe(v.number(), v.integer()),
  cause: v.optional(v.pipe(v.string(), v.description('Why the last try failed'))),
})
export type MailRecord = v.InferOutput<typeof MailRecord>

export const MailsQuery = v.object({
  after: v.optional(v.pipe(Id, v.description('`next_after` of the previous page'))),
  limit: Limit(50, 200),
})
export type MailsQuery = v.InferOutput<typeof MailsQuery>

/** A page of mails, oldest first. */
export const MailPage = v.object({ mails: v.array(MailRecord), next_after: v.optional(Id) })
export type MailPage = v.InferOutput<typeof MailPage>

/** The mails to retry or to delete: one, or all; of those to retry, a mail that waits is due at once. */
export const MailSelection = v.object({ id: v.optional(Id) })
export type MailSelection = v.InferOutput<typeof MailSelection>
