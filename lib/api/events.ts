// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { MessageDelta, Usage } from './answers.ts'
import type { Attachment } from './attachments.ts'
import type { ConversationFields, ConversationSettings } from './conversations.ts'
import type { Message, Reaction } from './messages.ts'
import type { Notification } from './notifications.ts'
import type { ThreadSummary } from './threads.ts'

/** An authorised stream with a reserved place: connect it, or release the place. */
export interface Opening {
  /** Starts sending. @returns a function that disconnects */
  connect(sink: Sink): () => void
  cancel(): void
}

/** The destination of the events of a reader. */
export interface Sink {
  write(delivery: Delivery): void
  /** The number of written bytes that the client has not yet received. */
  pending(): number
  /** Resolves when few bytes are pending, or the client has disconnected. */
  drained(): Promise<void>
  /**
   * How far the client has read, as a text that changes when it reads on; `undefined` if nothing waits for it. Missing for a
   * consumer that may take its time: a loop of the host.
   */
  progress?(): string | undefined
  end(): void
}

/** Events and their bytes, which are encoded once for all readers. */
export interface Delivery {
  bytes: Uint8Array
  events: Delivered[]
}

/** An event with its id; ephemeral events have none. */
export interface Delivered {
  id?: string
  event: ConversationStreamEvent
  /** The conversation of the event, its number in the log, and its time: a stream of several conversations uses them. */
  conversation_id?: string
  seq?: number
  at?: Micros
}

/** Microseconds since 1970, whole numbers up to 2^53. */
export type Micros = number

/** Everything that arrives on a conversation's stream. */
export type ConversationStreamEvent = PersistedEvent | EphemeralEvent | StreamEvent

/** Events that are stored in the log, have an id and are replayed. */
export type PersistedEvent =
  | {
      type: 'thread.new'
      payload: { conversation_id: string; root_id: string; summary: ThreadSummary }
    }
  | { type: 'message.new'; payload: { message: Message } }
  | { type: 'message.edited'; payload: { message: Message } }
  | { type: 'message.deleted'; payload: { message: Message } }
  | { type: 'message.restored'; payload: { message: Message } }
  | {
      type: 'reactions.changed'
      payload: {
        message_id: string
        root_id: string
        conversation_id: string
        /** The acting user, for `cleared` a moderator; missing when the user was erased */
        user_id?: string
        emoji?: string
        action: 'added' | 'removed' | 'cleared'
        /** All reactions to the message; none to a deleted one */
        reactions: Reaction[]
      }
    }
  | {
      type: 'pin.changed'
      payload: {
        message_id: string
        root_id: string
        conversation_id: string
        /** The acting user; missing when the user was erased */
        user_id?: string
        action: 'added' | 'removed'
        /** The time of the change; `pinned.at` of a message that was pinned */
        at: string
      }
    }
  | {
      type: 'attachment.changed'
      payload: {
        message_id: string
        root_id: string
        conversation_id: string
        attachment: Attachment
      }
    }
  | { type: 'message.delta'; payload: MessageDelta }
  | {
      type: 'message.done'
      payload: {
        message_id: string
        root_id: string
        conversation_id: string
        /** From the assistant (`stop`, `length`, …), or `cancelled`, `failed`, `interrupted` */
        finish_reason: string
        usage?: Usage
      }
    }
  | {
      type: 'message.failed'
      payload: {
        message_id: string
        root_id: string
        conversation_id: string
        code: 'timeout' | 'provider_error' | 'connection_lost' | 'invalid_answer' | 'empty_answer' | 'answer_too_long'
        message: string
      }
    }
  | {
      type: 'membership.changed'
      payload: {
        conversation_id: string
        user_id: string
        role?: 'owner' | 'admin' | 'member' | 'viewer'
        action: 'added' | 'removed' | 'role_updated'
      }
    }
  | { type: 'conversation.updated'; payload: { conversation: ConversationFields } }

/** Ephemeral events: sent once to the open streams. */
export type EphemeralEvent =
  | { type: 'thread.activity'; payload: { root_id: string; last_activity_at: string } }
  | {
      type: 'presence.update'
      payload: { user_id: string; status: 'online' | 'away' | 'offline'; last_seen_at?: string }
    }
  | {
      type: 'typing.update'
      payload: { conversation_id: string; root_id?: string; user_id: string; expires_at: string }
    }
  | {
      type: 'notification.new'
      payload: { notification: Notification; unread: number }
    }
  | {
      type: 'notification.read'
      payload: { ids?: string[]; up_to?: string; unread: number }
    }
  | { type: 'notifications.count'; payload: { unread: number } }
  | {
      type: 'unread.update'
      payload: { conversation_id: string; root_id: string; unread: number }
    }
  | {
      type: 'read.update'
      payload: {
        conversation_id: string
        root_id: string
        user_id: string
        /** The arrival of the message at which the marker is; missing without a marker */
        read_at?: string
      }
    }
  | {
      type: 'settings.update'
      payload: { conversation_id: string; settings: ConversationSettings }
    }

/** Events of the stream itself. */
export type StreamEvent =
  | {
      type: 'stream.ready'
      payload: {
        conversation_id?: string
        resumed: boolean
        last_event_id: string
        seq?: number
        /** The conversation is too large for `presence.update` */
        presence?: false
      }
    }
  | {
      type: 'stream.reset'
      payload: { reason: 'malformed' | 'unknown' | 'future' | 'expired'; last_event_id: string }
    }
  | {
      type: 'stream.closed'
      payload: { reason: 'session_ended' | 'removed' | 'draining' | 'too_slow' }
    }

/** How an iteration starts and stops. */
export interface FollowOptions {
  last_event_id?: string
  signal?: AbortSignal
}

/** An event of a stream of all conversations. */
export interface Followed extends Delivered {
  /** The host's own ids of the users that the event names, by their user ids: for a system actor, and for no user. */
  subjects?: Record<string, string>
}
