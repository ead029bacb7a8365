// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { CallOptions } from '../client/call-options.ts'
import type { Actor } from '../core/actor.ts'

/** `chat.presence`. */
export interface PresenceUseCases {
  /**
   * Reports the actor as online to all users who share a conversation with the actor.
   *
   * @throws ChatError `validation_failed`
   */
  sendHeartbeat(actor: Actor, input?: { status?: 'online' | 'away' | 'offline' | undefined }): Promise<void>

  /**
   * The presence of the actor, and of those of these users who share a conversation with the actor, in the given
   * order.
   *
   * @throws ChatError `validation_failed`
   */
  list(
    actor: Actor,
    input: {
      /** Up to 200 user ids, separated by commas */
      user_ids: string
    },
  ): Promise<Presences>

  /**
   * Publishes to a conversation that the actor is typing, or has stopped. Nothing is stored.
   *
   * @throws ChatError `not_found` for the conversation, or a thread that is not in it; `forbidden` if the actor may
   * not post; `validation_failed`
   */
  setTyping(
    actor: Actor,
    input: {
      conversation_id: string
      root_id?: string | undefined
      seconds?: number | undefined
    },
  ): Promise<void>
}

/** `client.presence`. */
export interface PresenceClient {
  /**
   * Read the presence of users.
   *
   * Of those users who share a conversation with the caller, and of the caller; others are left out. For
   * conversations whose `stream.ready` has `presence: false`.
   *
   * @throws ChatError `validation_failed`
   */
  list(
    input: {
      /** Up to 200 user ids, separated by commas */
      user_ids: string
    },
    options?: CallOptions,
  ): Promise<Presences>

  /**
   * Send a presence heartbeat.
   *
   * Without another heartbeat within 60 seconds, and without an open stream, the user is offline.
   *
   * @throws ChatError `validation_failed`
   */
  sendHeartbeat(input?: { status?: 'online' | 'away' | 'offline' | undefined }, options?: CallOptions): Promise<void>

  /**
   * Send a typing status.
   *
   * Other participants get `typing.update`. It expires after `seconds` unless sent again; 0 ends it.
   *
   * @throws ChatError `not_found`, `forbidden`, `validation_failed`
   */
  setTyping(
    input: {
      conversation_id: string
      root_id?: string | undefined
      seconds?: number | undefined
    },
    options?: CallOptions,
  ): Promise<void>
}

/** The presence of some users. */
export interface Presences {
  presence: UserPresence[]
}

/** The presence of one user. */
export interface UserPresence {
  user_id: string
  status: 'online' | 'away' | 'offline'
  last_seen_at?: string
}
