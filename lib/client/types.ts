import type * as v from 'valibot'
import type { ConversationStreamEvent } from '../chat/events/schema.ts'
import type { Params, Route } from '../endpoint.ts'
import type { routes } from '../endpoints.ts'

export type { ConversationStreamEvent } from '../chat/events/schema.ts'

/** How to reach a service, and what differs from its defaults. */
export interface ClientOptions {
  /** The service's address, with the base path it is mounted under. */
  base_url: string
  /** Calls in the name of the user it belongs to, instead of signing in. Not for pages: whoever sees one has the key. */
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

type Part<Name extends string, Schema> = Schema extends v.GenericSchema
  ? Record<never, never> extends v.InferInput<Schema>
    ? { [N in Name]?: v.InferInput<Schema> }
    : { [N in Name]: v.InferInput<Schema> }
  : Record<never, never>

type Arguments<R> = (keyof Params<Parts<R>['path']> extends never
  ? Record<never, never>
  : { params: Params<Parts<R>['path']> }) &
  Part<'query', Parts<R>['query']> &
  Part<'body', Parts<R>['body']> & {
    /** Sent with the call, such as `Idempotency-Key`. */
    headers?: Record<string, string>
  }

type Answer<R> = Parts<R>['kind'] extends 'text' | 'document'
  ? string
  : Parts<R>['output'] extends v.GenericSchema
    ? v.InferOutput<Parts<R>['output']>
    : undefined

type Routes = typeof routes
type Called = { [Name in keyof Routes]: Routes[Name]['answer'] extends 'stream' ? never : Name }[keyof Routes]

type Method<R> = Parts<R>['pieces'] extends v.GenericSchema
  ? StreamingMethod<Arguments<R>, Answer<R>, v.InferOutput<Parts<R>['pieces']>>
  : Record<never, never> extends Arguments<R>
    ? (input?: Arguments<R>) => Promise<Answer<R>>
    : (input: Arguments<R>) => Promise<Answer<R>>

interface StreamingMethod<Input, Whole, Piece> {
  (input: Input & { body: { stream: true } }): Promise<AsyncGenerator<Piece>>
  (input: Input & { body: { stream?: false | null } }): Promise<Whole>
}

/** An event as it arrived; those that are not persisted have no id. */
export interface ReceivedEvent {
  id?: string
  event: ConversationStreamEvent
}

/** Every endpoint as a method, and the streams as loops. Failures are `ChatError`s. */
export type ChatClient = { [Name in Called]: Method<Routes[Name]> } & {
  /**
   * A conversation's events as they come. A lost connection is opened again where it broke off, so that nothing is
   * missed or repeated; the loop ends when the session or the participation does, or with `signal`.
   */
  follow(conversationId: string, options?: FollowOptions): AsyncGenerator<ReceivedEvent>
  /** The same of all conversations, those joined later included; the loop ends when the session does. */
  followAll(options?: FollowOptions): AsyncGenerator<ReceivedEvent>
}

/** Where a loop starts, and what ends it. */
export interface FollowOptions {
  last_event_id?: string
  signal?: AbortSignal
}
