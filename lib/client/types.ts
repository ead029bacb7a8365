import type * as v from 'valibot'
import type { ConversationStreamEvent } from '../chat/events/schema.ts'
import type { Route } from '../endpoint.ts'
import type { endpoints } from '../endpoints.ts'

export type { ConversationStreamEvent } from '../chat/events/schema.ts'

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

type Parts<R> =
  R extends Route<infer P, infer _A, infer Q, infer B, infer O, infer K, infer C>
    ? { path: P; query: Q; body: B; output: O; kind: K; pieces: C }
    : never

type PathNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? [Name, ...PathNames<Rest>]
  : []

/** `['conversation_id', 'user_id']` → `[conversation_id: string, user_id: string]`, but for the names. */
type Ids<Names extends string[]> = { [I in keyof Names]: string }

type InputOf<R> = Parts<R>['body'] extends v.GenericSchema
  ? v.InferInput<Parts<R>['body']>
  : Parts<R>['query'] extends v.GenericSchema
    ? v.InferInput<Parts<R>['query']>
    : undefined

/** The ids of the path in its order, then the input where there is one, then what is sent beside it. */
type Arguments<R> =
  InputOf<R> extends undefined
    ? [...Ids<PathNames<Parts<R>['path']>>, options?: CallOptions]
    : Record<never, never> extends InputOf<R>
      ? [...Ids<PathNames<Parts<R>['path']>>, input?: InputOf<R>, options?: CallOptions]
      : [...Ids<PathNames<Parts<R>['path']>>, input: InputOf<R>, options?: CallOptions]

type Answer<R> = Parts<R>['kind'] extends 'text' | 'document'
  ? string
  : Parts<R>['output'] extends v.GenericSchema
    ? v.InferOutput<Parts<R>['output']>
    : undefined

type Method<R> = Parts<R>['pieces'] extends v.GenericSchema
  ? StreamingMethod<InputOf<R>, Answer<R>, v.InferOutput<Parts<R>['pieces']>>
  : (...args: Arguments<R>) => Promise<Answer<R>>

interface StreamingMethod<Input, Whole, Piece> {
  (input: Input & { stream: true }, options?: CallOptions): Promise<AsyncGenerator<Piece>>
  (input: Input & { stream?: false | null }, options?: CallOptions): Promise<Whole>
}

/** What a call may carry beside its input. */
export interface CallOptions {
  /** Sent with the call, such as `Idempotency-Key`. */
  headers?: Record<string, string>
  /** Aborts the call. */
  signal?: AbortSignal
}

/** An event as it arrived; those that are not persisted have no id. */
export interface ReceivedEvent {
  id?: string
  event: ConversationStreamEvent
}

type Features = typeof endpoints
type Methods<F> = { [Verb in keyof F as F[Verb] extends { answer: 'stream' } ? never : Verb]: Method<F[Verb]> }

/** Every endpoint as a method, and the streams as loops. Failures are `ChatError`s. */
export type ChatClient = { [F in Exclude<keyof Features, 'events'>]: Methods<Features[F]> } & {
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
