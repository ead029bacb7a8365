import type { ConversationStreamEvent } from '../api/events.ts'
import type { ClientFeatures } from '../api/features.ts'

export type { ConversationStreamEvent } from '../api/events.ts'
export type { CallOptions } from './call-options.ts'

/** How to reach a service, and what differs from its defaults. */
export interface ClientOptions {
  /** The service's address, with the base path it is mounted under. */
  base_url: string
  /** Calls in the name of the user it belongs to, instead of signing in. Not for pages: each visitor of the page would have the key. */
  api_key?: string
  /** Default: the runtime's. */
  fetch?: typeof fetch
  /** `security.csrf.cookie_name` of the service. */
  csrf_cookie_name?: string
  /** `security.csrf.header_name` of the service. */
  csrf_header_name?: string
  /**
   * What the last sign-in answered with: for a page of another origin, which cannot read the cookie, when it is loaded
   * again.
   */
  csrf_token?: string
  /**
   * How long to wait before a lost stream is opened again, in milliseconds. Default: as long as the service says, or
   * two seconds.
   */
  retry_ms?: number
}

/** An event as it arrived; those that are not persisted have no id. */
export interface ReceivedEvent {
  id?: string
  event: ConversationStreamEvent
}

/**
 * Every endpoint as a method, and the streams as loops. Failures are `ChatError`s: beside those that a method names, any
 * can fail with `unauthenticated`, `session_expired`, `csrf_failed`, `rate_limited` or `unavailable`.
 */
export interface ChatClient extends ClientFeatures {
  events: {
    /**
     * A conversation's events as they come. A lost connection is opened again where it broke off, so that nothing is
     * missed or repeated; the loop ends when the session or the participation does, or with `signal`.
     */
    follow(conversationId: string, options?: FollowOptions): AsyncGenerator<ReceivedEvent>
    /** The same of all conversations, those joined later included; the loop ends when the session does. */
    followAll(options?: FollowOptions): AsyncGenerator<ReceivedEvent>
  }
}

/** Where a loop starts, and what ends it. */
export interface FollowOptions {
  last_event_id?: string
  signal?: AbortSignal
}
