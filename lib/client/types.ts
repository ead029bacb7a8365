import type { Attachment } from '../api/attachments.ts'
import type { ClientFeatures } from '../api/client-features.ts'
import type { ConversationStreamEvent } from '../api/events.ts'
import type { NamesOf } from '../core/known-names.ts'

export type { ConversationStreamEvent } from '../api/events.ts'
export type { CallOptions } from './call-options.ts'

/**
 * How event streams arrive: by the body of a `fetch`; by an `XMLHttpRequest` where that body cannot be read as it comes
 * (React Native); or by requests that end with the next events, where a proxy holds streams back.
 */
export type Transport = (typeof TRANSPORTS)[number]

export const TRANSPORTS = ['auto', 'fetch', 'xhr', 'poll'] as const

/** The address of a service, and the settings of the client. */
export interface ClientOptions {
  /** The URL of the service, with the base path under which it is mounted. */
  base_url: string
  /** Authenticates calls as the user of the key, without a sign-in. Not for pages: each visitor would get the key. */
  api_key?: string
  /**
   * Authenticates calls with the token that it returns: asked for at the first call, before the `exp` of a JWT and when the
   * service has refused the last one (`expired`), once for all calls that wait. Streams go on with the next token.
   */
  token?: (options: { expired: boolean }) => string | Promise<string>
  /** Default: `fetch` of the runtime. */
  fetch?: typeof fetch
  /** `security.csrf.cookie_name` of the service. */
  csrf_cookie_name?: string
  /** `security.csrf.header_name` of the service. */
  csrf_header_name?: string
  /**
   * The `csrf_token` of the last sign-in, for a page of another origin after a reload: it cannot read the cookie.
   */
  csrf_token?: string
  /**
   * The delay before a lost stream is opened again, in milliseconds. Default: the delay that the service sends, or two
   * seconds.
   */
  retry_ms?: number
  /**
   * How event streams arrive. Default: `auto`, which is `fetch`, or `xhr` where the body of a response cannot be read as it
   * comes (React Native). `poll` where nothing streams.
   */
  transport?: Transport
}

export const CLIENT_OPTIONS: NamesOf<ClientOptions> = {
  base_url: 0,
  api_key: 0,
  token: 0,
  fetch: 0,
  csrf_cookie_name: 0,
  csrf_header_name: 0,
  csrf_token: 0,
  retry_ms: 0,
  transport: 0,
}

/** An event with its id; ephemeral events have none. */
export interface ReceivedEvent {
  id?: string
  event: ConversationStreamEvent
}

/**
 * Every endpoint as a method, and the streams as loops. Failures are `ChatError`s: in addition to its own codes, each
 * method can fail with `unauthenticated`, `session_expired`, `csrf_failed`, `rate_limited` or `unavailable`.
 */
export interface ChatClient extends ClientFeatures {
  events: {
    /**
     * The live events of a conversation. After a lost connection the stream resumes without a missed or repeated event.
     * The loop ends with the session, with the participation, or with `signal`.
     */
    follow(conversationId: string, options?: FollowOptions): AsyncGenerator<ReceivedEvent>
    /** The live events of all conversations, including those joined later. The loop ends with the session or `signal`. */
    followAll(options?: FollowOptions): AsyncGenerator<ReceivedEvent>
  }
  /**
   * Uploads a file into a conversation, in parts: after a lost connection only the missing ones are sent again, for some
   * minutes. Post its id in `attachment_ids`.
   *
   * @returns the attachment: `ready`, or being checked
   * @throws ChatError as `client.attachments.create`; `not_found` when the upload has ended; `conflict` for another file than
   *   the one that `attachment_id` began with; `storage_full`; `unavailable`. With its id, the upload can continue
   *   later
   * @throws the reason of `signal`
   */
  upload(conversationId: string, file: Blob, options?: UploadOptions): Promise<Attachment>
}

/** The options of an upload. */
export interface UploadOptions {
  /** Default: the name of a `File`. */
  name?: string
  /** The upload that continues: one that was begun before, by this page or another, with the same file. */
  attachment_id?: string
  /** Called when the upload has begun, and after each part. */
  onProgress?: (progress: UploadProgress) => void
  /** Breaks the upload off. What was sent stays for a day, unless `client.attachments.remove` removes it. */
  signal?: AbortSignal
}

/** How far an upload is. */
export interface UploadProgress {
  attachment: Attachment
  /** Bytes that have arrived. */
  sent: number
  /** Bytes of the file. */
  size: number
}

/** The event after which a loop starts, and the signal that ends it. */
export interface FollowOptions {
  last_event_id?: string
  signal?: AbortSignal
  /**
   * Called when the connection is lost or cannot be opened, with the milliseconds after which the loop tries to open it
   * again.
   */
  on_disconnect?: (retry_ms: number) => void
  /** Called when an open stream has sent nothing for 15 seconds, as behind a proxy that holds it back. */
  on_silence?: () => void
}

export const FOLLOW_OPTIONS: NamesOf<FollowOptions> = { last_event_id: 0, signal: 0, on_disconnect: 0, on_silence: 0 }
