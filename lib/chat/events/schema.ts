import * as v from 'valibot'
import { Person } from '../../accounts/users/schema.ts'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { Id, Instant, opaque } from '../../core/schema.ts'
import { FailedAnswer, MessageDelta, MessagePart, Usage } from '../answers/schema.ts'
import { Approval } from '../approvals/schema.ts'
import { Attachment } from '../attachments/schema.ts'
import { CommandInvocation } from '../commands/schema.ts'
import { ConversationFields, ParticipantRole } from '../conversations/schema.ts'
import { ConversationSettings } from '../conversations/schema-settings.ts'
import { Message, Reaction, ReplyState } from '../messages/schema.ts'
import { Notice } from '../notices/schema.ts'
import { Notification } from '../notifications/schema.ts'
import { ThreadSummary } from '../threads/schema.ts'

const event = <T extends string, P extends v.GenericSchema>(type: T, payload: P) =>
  v.object({ type: v.literal(type), payload })
const Seq = v.pipe(v.number(), v.integer(), v.minValue(0))
const Count = v.pipe(v.number(), v.integer())

/** A message that arrived, was deleted or restored. */
const Counted = v.object({
  message: Message,
  // The thread of a reply, when the event is sent.
  thread: v.optional(ReplyState),
})

/** Events for one user alone: in the user's stream of all conversations, and without a number in their conversation. */
export const PrivateEvent = v.variant('type', [
  event('notice.new', v.object({ notice: Notice })),
  event('command.invoked', CommandInvocation),
  event('notice.removed', v.object({ notice_id: Id, conversation_id: Id })),
])
export type PrivateEvent = v.InferOutput<typeof PrivateEvent>

/** Events that are stored in the log, have an id and are replayed. */
export const PersistedEvent = v.variant('type', [
  event('thread.new', v.object({ conversation_id: Id, root_id: Id, summary: ThreadSummary })),
  event(
    'thread.updated',
    v.object({
      conversation_id: Id,
      root_id: Id,
      title: v.pipe(v.string(), v.description('Empty without one, and while the root is deleted')),
    }),
  ),
  event('message.new', Counted),
  event('message.edited', v.object({ message: Message })),
  event('message.deleted', Counted),
  event('message.restored', Counted),
  event(
    'reactions.changed',
    v.object({
      message_id: Id,
      root_id: Id,
      conversation_id: Id,
      user_id: v.optional(
        v.pipe(Id, v.description('The acting user, for `cleared` a moderator; missing when the user was erased')),
      ),
      emoji: v.optional(v.string()),
      action: v.picklist(['added', 'removed', 'cleared']),
      reactions: v.pipe(v.array(Reaction), v.description('All reactions to the message; none to a deleted one')),
    }),
  ),
  event(
    'pin.changed',
    v.object({
      message_id: Id,
      root_id: Id,
      conversation_id: Id,
      user_id: v.optional(v.pipe(Id, v.description('The acting user; missing when the user was erased'))),
      action: v.picklist(['added', 'removed']),
      at: v.pipe(Instant, v.description('The time of the change; `pinned.at` of a message that was pinned')),
    }),
  ),
  event(
    'attachment.changed',
    v.object({
      message_id: Id,
      root_id: Id,
      conversation_id: Id,
      attachment: Attachment,
    }),
  ),
  event('message.delta', MessageDelta),
  event('message.part', MessagePart),
  event(
    'message.done',
    v.object({
      message_id: Id,
      root_id: Id,
      conversation_id: Id,
      finish_reason: v.pipe(
        v.string(),
        v.description('From the assistant (`stop`, `length`, …), or `cancelled`, `failed`, `interrupted`'),
      ),
      usage: v.optional(Usage),
      message: v.optional(Message),
    }),
  ),
  event('message.failed', FailedAnswer),
  event('approval.changed', v.object({ approval: Approval })),
  event(
    'membership.changed',
    v.object({
      conversation_id: Id,
      user_id: Id,
      role: v.optional(ParticipantRole),
      action: v.picklist(['added', 'removed', 'role_updated']),
    }),
  ),
  event('conversation.updated', v.object({ conversation: ConversationFields })),
  event(
    'user.merged',
    v.object({
      conversation_id: Id,
      from_user_id: v.pipe(Id, v.description('The id that no user has any more')),
      user: Person,
    }),
  ),
  ...PrivateEvent.options,
])
export type PersistedEvent = v.InferOutput<typeof PersistedEvent>

/** When what follows is not in a number. */
const AsOf = v.pipe(
  Instant,
  v.description('The arrival of the newest message that is counted: add those that arrived later'),
)

/** Ephemeral events: sent once to the open streams. */
export const EphemeralEvent = v.variant('type', [
  event('thread.activity', v.object({ root_id: Id, last_activity_at: Instant })),
  event(
    'presence.update',
    v.object({ user_id: Id, status: v.picklist(['online', 'away', 'offline']), last_seen_at: v.optional(Instant) }),
  ),
  event('user.updated', v.object({ user: Person })),
  event('typing.update', v.object({ conversation_id: Id, root_id: v.optional(Id), user_id: Id, expires_at: Instant })),
  event(
    'notification.new',
    v.object({
      notification: Notification,
      unread: v.pipe(v.number(), v.integer()),
      mentions: v.optional(v.pipe(v.number(), v.integer(), v.description("The conversation's, as in lists"))),
    }),
  ),
  event(
    'notification.read',
    v.object({ ids: v.optional(v.array(Id)), up_to: v.optional(Id), unread: v.pipe(v.number(), v.integer()) }),
  ),
  event('notifications.count', v.object({ unread: v.pipe(v.number(), v.integer()) })),
  event(
    'unread.update',
    v.object({
      conversation_id: Id,
      root_id: Id,
      unread: Count,
      unread_replies: Count,
      conversation_unread: v.pipe(Count, v.description('`unread` of the conversation')),
      conversation_unread_replies: v.optional(v.pipe(Count, v.description('`unread_replies` of the conversation'))),
      as_of: AsOf,
    }),
  ),
  event(
    'conversation.unread',
    v.object({
      conversation_id: Id,
      change: v.picklist(['roots_read', 'all_read', 'roots_unread']),
      at: v.pipe(
        Instant,
        v.description('The arrival up to which messages were read, or from which on they are unread'),
      ),
      unread: v.pipe(Count, v.description('`unread` of the conversation')),
      unread_replies: v.pipe(Count, v.description('`unread_replies` of the conversation')),
      as_of: AsOf,
    }),
  ),
  event(
    'unread.cleared',
    v.object({
      up_to: v.pipe(Instant, v.description('The arrival up to which all messages, and their notifications, were read')),
      unread: v.pipe(Count, v.description('The number of unread notifications')),
    }),
  ),
  event(
    'thread.followed',
    v.object({ conversation_id: Id, root_id: Id, following: v.boolean(), unread_replies: Count }),
  ),
  event(
    'read.update',
    v.object({
      conversation_id: Id,
      root_id: Id,
      user_id: Id,
      read_at: v.optional(
        v.pipe(Instant, v.description('The arrival of the message at which the marker is; missing without a marker')),
      ),
      scope: v.optional(
        v.pipe(
          v.picklist(['roots', 'all']),
          v.description(
            'For a mark of the whole conversation, whose latest thread is `root_id`: up to `read_at` the user has read the first messages of threads, or all messages',
          ),
        ),
      ),
    }),
  ),
  event(
    'rights.changed',
    v.object({
      conversation_id: v.optional(
        v.pipe(
          Id,
          v.description('The conversation in which the role is another one; missing for roles in the service'),
        ),
      ),
    }),
  ),
  event('settings.update', v.object({ conversation_id: Id, settings: ConversationSettings })),
])
export type EphemeralEvent = v.InferOutput<typeof EphemeralEvent>

/** Events of the stream itself. */
export const StreamEvent = v.variant('type', [
  event(
    'stream.ready',
    v.object({
      conversation_id: v.optional(Id),
      resumed: v.boolean(),
      last_event_id: v.string(),
      seq: v.optional(Seq),
      presence: v.optional(
        v.pipe(
          v.literal(false),
          v.description(
            'The stream has no `presence.update`: the conversation is too large, or the user does not participate',
          ),
        ),
      ),
    }),
  ),
  event(
    'stream.reset',
    v.object({ reason: v.picklist(['malformed', 'unknown', 'future', 'expired']), last_event_id: v.string() }),
  ),
  event(
    'stream.closed',
    v.object({ reason: v.picklist(['session_ended', 'removed', 'draining', 'too_slow', 'caught_up']) }),
  ),
])
export type StreamEvent = v.InferOutput<typeof StreamEvent>

/** Everything that arrives on a conversation's stream. */
export const ConversationStreamEvent = v.variant('type', [PersistedEvent, EphemeralEvent, StreamEvent])
export type ConversationStreamEvent = v.InferOutput<typeof ConversationStreamEvent>

/** Why the server ended a stream. */
export type CloseReason = Extract<StreamEvent, { type: 'stream.closed' }>['payload']['reason']

/** How long a request for events may wait for the next one: proxies end silent requests after 30 seconds or more. */
const MAX_WAIT_SECONDS = 25

export const StreamQuery = v.object({
  last_event_id: v.optional(
    v.pipe(opaque(MAX_LENGTH.position), v.description('Resume after this event, as the header `Last-Event-ID` does')),
  ),
  once: v.optional(
    v.pipe(
      v.boolean(),
      v.description(
        'End the response after the missed events, or else after the first event within `wait_seconds`, by `stream.closed` with `caught_up`',
      ),
    ),
  ),
  wait_seconds: v.optional(
    v.pipe(
      v.number(),
      v.integer(),
      v.minValue(0),
      v.maxValue(MAX_WAIT_SECONDS),
      v.description('With `once`: how long to wait for an event if none was missed. Default: 0'),
    ),
  ),
})

/** What a stream takes over HTTP. */
export const StreamRequest = v.object({
  ...StreamQuery.entries,
  ticket: v.optional(
    v.pipe(
      opaque(MAX_LENGTH.signed_token),
      v.description('A ticket of `POST /api/auth/tokens`, where no header can be sent. It is read before the rest'),
    ),
  ),
})

export const StreamHeaders = v.object({
  'last-event-id': v.optional(v.pipe(opaque(MAX_LENGTH.position), v.description('Resume after this event'))),
})
