// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { Actor } from '../core/actor.ts'
import type { Presences } from './presence.ts'

/** `chat.presence`. */
export interface PresenceUseCases {
  /**
   * Reports the actor as online to all users who share a conversation with the actor.
   *
   * @throws ChatError `validation_failed`
   */
  sendHeartbeat(actor: Actor, input?: { status?: 'online' | 'away' | 'offline' | undefined }): Promise<void>

  /**
   * The presence of the actor, and of the given users who share a conversation with the actor, in the given order.
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
