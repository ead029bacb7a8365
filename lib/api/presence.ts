// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { CallOptions } from '../client/call-options.ts'

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
