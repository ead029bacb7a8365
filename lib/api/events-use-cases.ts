// Made from the use-cases, routes and schemas by `npm run docs`: change it there.
import type { Actor } from '../core/actor.ts'
import type { Delivered, Followed, FollowOptions, Opening } from './events.ts'

/** `chat.events`. */
export interface EventsUseCases {
  /**
   * Reserves a place on a conversation's stream.
   *
   * @throws ChatError `not_found`; `too_many_streams`; `unavailable` while the service drains; `validation_failed`
   */
  open(
    actor: Actor,
    conversation_id: string,
    input?: {
      /** Resume after this event, as the header `Last-Event-ID` does */
      last_event_id?: string | undefined
    },
  ): Promise<Opening>

  /**
   * Reserves a place on the stream of all the actor's conversations, including those joined later.
   *
   * @throws ChatError `forbidden` for the operator; `too_many_streams`; `unavailable` while the service drains;
   * `validation_failed`
   */
  openAll(
    actor: Actor,
    input?: {
      /** Resume after this event, as the header `Last-Event-ID` does */
      last_event_id?: string | undefined
    },
  ): Promise<Opening>

  /**
   * A conversation's events: missed ones since `last_event_id` first, then live ones, `stream.closed` last. Leaving
   * the loop, or aborting `signal`, closes the stream.
   *
   * @throws ChatError as `open`
   */
  follow(actor: Actor, conversationId: string, options?: FollowOptions): AsyncGenerator<Delivered>

  /**
   * The events of all the actor's conversations, as `follow`; `conversation_id` is the conversation of an event.
   *
   * @throws ChatError as `openAll`
   */
  followAll(actor: Actor, options?: FollowOptions): AsyncGenerator<Followed>
}
