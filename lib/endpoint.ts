import type * as v from 'valibot'
import type { ServerKeyScope } from './accounts/server-keys/schema.ts'
import type { Client, SignedIn } from './accounts/sessions/service.ts'
import type { FileAnswer } from './chat/attachments/content.ts'
import type { Opening } from './chat/events/service.ts'
import type { Config } from './config/parse.ts'
import type { Actor, Scope } from './core/actor.ts'
import { contextOf } from './core/context-of.ts'
import type { ErrorCode } from './core/errors.ts'
import { type AnyUseCase, invoke, type UseCase } from './core/use-case.ts'
import type { Access, AnswerKind, Method, ResponseHeaders, Tag } from './endpoint-kinds.ts'
import type { Endpoint } from './limits/rules.ts'
import type { Chat } from './service.ts'

/** `'/a/{b}/{c}'` → `'b' | 'c'` */
type ParamNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamNames<Rest>
  : never
export type Params<Path extends string> = { [Name in ParamNames<Path>]: string }

type Input<Schema> = Schema extends v.GenericSchema ? v.InferInput<Schema> : undefined

/** What a route takes instead of JSON: bytes. */
export interface BytesBody {
  /** The maximum size. */
  bytes: number | ((config: Config) => number)
  /** How long the body may take. */
  seconds: number
  /** The body may be shorter than the buffer, and have any media type: its first bytes decide. */
  is_free?: true
}

/** The arguments of a handler. Query and body are typed, but only the use-case validates them. */
export interface Call<Path extends string, A extends Access, Q, B> {
  chat: Chat
  actor: A extends 'public' ? undefined : A extends 'optional' ? Actor | undefined : Actor
  params: Params<Path>
  query: Input<Q>
  body: Input<B>
  /**
   * Reads a body of `length` bytes, of a route with `bytes`, into a buffer of that length, unless `signal` is aborted before.
   * A free body has up to that many.
   *
   * @throws ChatError `validation_failed` unless the body has exactly this many, `payload_too_large` for a free one with more; `request_timeout`; the reason of
   *   `signal`
   */
  readBytes: (
    length: number,
    buffer: Uint8Array,
    signal: AbortSignal,
    onBytes: (count: number) => void,
  ) => Promise<Uint8Array>
  headers: Headers
  /** A signal that is aborted when the client has disconnected. */
  gone: () => AbortSignal
  client: Client
  /** Every route that can be limited. */
  endpoints: readonly Endpoint[]
}

/** The result types of handlers, by the kind of response. */
type Result<K extends AnswerKind, O, C> = K extends 'stream'
  ? Opening
  : K extends 'frames'
    ? Opening | (O extends v.GenericSchema ? v.InferInput<O> : undefined)
    : K extends 'text'
      ? string | Uint8Array
      : K extends 'document'
        ? { content_type: string; body: string }
        : K extends 'file'
          ? FileAnswer
          : K extends 'redirect'
            ? { signed_in: SignedIn; redirect_to: string }
            : O extends v.GenericSchema
              ?
                  | (v.InferInput<O> & (K extends 'binding' ? { binding: string } : unknown))
                  | (C extends v.GenericSchema ? Iterable<v.InferInput<C>> | Opening : never)
              : // biome-ignore lint/suspicious/noConfusingVoidType: a use-case that answers with nothing returns void.
                void | (K extends 'session' | 'device' ? { device: string } : never)

/**
 * The single description of an endpoint: routing, validation, CSRF, OpenAPI and the typed client are derived from it.
 */
export interface Route<
  Path extends string = string,
  A extends Access = Access,
  Q extends v.GenericSchema | undefined = v.GenericSchema | undefined,
  B extends v.GenericSchema | undefined = v.GenericSchema | undefined,
  O extends v.GenericSchema | undefined = v.GenericSchema | undefined,
  K extends AnswerKind = AnswerKind,
  C extends v.GenericSchema | undefined = v.GenericSchema | undefined,
> {
  method: Method
  /** It also decides the API group of the route: the maximum size of a body, and the format of failures. */
  path: Path
  /** The schemas of parameters of the path that are neither ids nor names without escapes. One that is a text is decoded. */
  params?: { readonly [Name in ParamNames<Path>]?: v.GenericSchema }
  /** Whether the last parameter of the path takes the rest of it, with slashes. */
  takes_rest?: true
  tag: Tag
  /** A short summary, and a description for callers. Both are Markdown. */
  summary: string
  description: string
  access: A
  /** Part of the service's own sign-in: no API key may call it, and it is 404 with `ports.identity`. */
  sign_in?: true
  /** With `sign_in`: it ends a token of the service too, which guests have beside `ports.identity`. */
  ends_tokens?: true
  /** The scope with which a server key may call it that acts for no account; default: none may. */
  server_key?: ServerKeyScope
  /** The least scope of a token that may call it. Default: `write` if it changes data, `stream` for a stream, else `read`. */
  needs_scope?: Scope
  /** Whether a call changes data; then it is refused to other sites, and clients do not retry it. */
  changes: boolean
  answer: K
  query: Q
  /** Request headers that the route reads, in lower case; for the documentation. */
  headers?: v.GenericSchema
  body: B
  /** The body is bytes, which the handler reads. */
  bytes?: BytesBody
  /** An example of a body. */
  example?: Input<B>
  /** Whether the body is optional. */
  body_optional?: boolean
  /** The status of success. */
  status: number
  /** The status of success if the result has `created: false`. */
  status_unless_created?: number
  /** The status of success if the result is empty. */
  status_if_empty?: 204
  /** The text of the answer with 200 if the result is empty. */
  text_if_empty?: string
  /**
   * The form that may come instead of a JSON body, and its field with the JSON. The OpenAPI document describes it in words:
   * generators of clients make no type of a second body.
   */
  form?: { field: string }
  /** The other statuses of a file. */
  file_statuses?: readonly number[]
  output: O
  /**
   * The schema of the chunks that `stream: true` returns instead of the output, or of the frames of a protocol: an event
   * stream, of an iterable with `[DONE]` at its end.
   */
  pieces: C
  /**
   * Headers of a successful response, and whether it always has them, besides the common ones and those of the limits.
   * The value of a header in {@link RESULT_HEADERS} is a field of the output, and not in its body.
   */
  response_headers: ResponseHeaders
  /** The codes of this route besides those of every route with its access. */
  errors: readonly ErrorCode[]
  /** `false` if no limit counts the calls: they are the operator's, not a user's. */
  limited?: false
  /** `false` if no metric counts the responses: it would show sign-ins and their failures. */
  metrics?: false
  /** Whether a call may wait for something to happen: its time is neither measured nor logged as slow. */
  waits?: true
  /** The log level of calls, if it is not the usual one: probes would fill the log. */
  log?: 'debug'
  /** Counts the calls under another limit than the user's or the address's: that of sign-ins. */
  limited_as?: 'sign_in'
  /** Whether `metrics.token` is required, if it is configured. */
  metrics_token?: true
  /** The media type of a text response. */
  content_type?: string
  /** `Authorization` alone proves the caller: no cookie has an effect. Beside `optional`, a bearer of another service counts as none. */
  by_token?: true
  /** Whether it looks at the caller at all, with `optional`. Default: always. */
  looks_at_caller?: (config: Config) => boolean
  /** Part of a protocol of others, whose own clients call it: those of this service have no method for it. */
  is_protocol?: true
  /** The address itself admits the call: a page of any site may make it, and cookies have no effect. */
  is_by_address?: true
  /** Whether a call with this body uses no cookies: then pages that may call with a token may make it without one. */
  is_cookieless?: (body: unknown) => boolean
  /** Whether a call with this body is a sign-up, where the caller is a guest: then it acts for none, as one without a session. */
  signs_up?: (body: unknown) => boolean
  /** Whether the use-case confirms the session of the call in its own transaction, so that it need not be read before. */
  confirms_session?: true
  /** Checks the call before anything of the request is read. */
  before?: (call: { chat: Chat }) => Promise<void>
  handler: (call: Call<Path, A, Q, B>) => Promise<Result<K, O, C>> | Result<K, O, C>
}

/** Any endpoint, where the types of its parts do not matter. */
// biome-ignore lint/suspicious/noExplicitAny: a handler's argument is contravariant, so no other type takes every route.
export type AnyRoute = Route<any, any, any, any, any, any, any>

type Defaults = 'changes' | 'answer' | 'query' | 'body' | 'status' | 'output' | 'pieces' | 'response_headers' | 'errors'

/** Methods with their input in the query. */
type Bodiless = 'GET' | 'DELETE'

type Spec<R extends AnyRoute> = Omit<R, Defaults> & Partial<Pick<R, Defaults>>

/**
 * Creates a route value of a use-case: its input comes from the query with GET and DELETE and from the body with other
 * methods, its errors are the use-case's. Defaults: JSON, 200, no output, no chunks, and every method but GET changes
 * data.
 */
export function route<
  const Path extends string,
  A extends Access,
  const M extends Method,
  Takes extends readonly string[],
  Schema extends v.GenericSchema | undefined,
  Returned,
  Q extends v.GenericSchema | undefined = M extends Bodiless ? Schema : undefined,
  B extends v.GenericSchema | undefined = M extends Bodiless ? undefined : Schema,
  O extends v.GenericSchema | undefined = undefined,
  K extends AnswerKind = 'json',
  C extends v.GenericSchema | undefined = undefined,
>(
  spec: Omit<Spec<Route<Path, A, Q, B, O, K, C>>, 'handler' | 'errors' | 'method'> & {
    method: M
    run: UseCase<Takes, Schema, Returned>
  },
): Route<Path, A, Q, B, O, K, C>
/** Creates a route value with its own handler, for a call whose input is not just a query or a body. */
export function route<
  const Path extends string,
  A extends Access,
  Q extends v.GenericSchema | undefined = undefined,
  B extends v.GenericSchema | undefined = undefined,
  O extends v.GenericSchema | undefined = undefined,
  K extends AnswerKind = 'json',
  C extends v.GenericSchema | undefined = undefined,
>(spec: Spec<Route<Path, A, Q, B, O, K, C>>): Route<Path, A, Q, B, O, K, C>
export function route({
  run,
  ...spec
}: Omit<Spec<AnyRoute>, 'handler'> & { handler?: AnyRoute['handler']; run?: AnyUseCase }): AnyRoute {
  const isInQuery = spec.method === 'GET' || spec.method === 'DELETE'
  return {
    changes: spec.method !== 'GET',
    answer: 'json',
    query: isInQuery ? run?.input : undefined,
    body: isInQuery ? undefined : run?.input,
    status: 200,
    output: undefined,
    pieces: undefined,
    response_headers: {},
    errors: run?.errors ?? [],
    ...spec,
    handler: run ? (call: AnyCall) => callUseCase(run, call) : spec.handler!,
  }
}

type AnyCall = Call<string, Access, v.GenericSchema, v.GenericSchema>

/** Calls a use-case with the arguments it takes of a request. */
function callUseCase(useCase: AnyUseCase, call: AnyCall): unknown {
  const scope = (useCase.takes as string[]).map((name) => argumentOf(call, name))
  return invoke(contextOf(call.chat), useCase, scope, call.query ?? call.body)
}

function argumentOf({ actor, client, endpoints, params }: AnyCall, name: string): unknown {
  if (name === 'actor' || name === 'actor?') return actor
  if (name === 'client') return client
  if (name === 'endpoints') return endpoints
  return (params as Record<string, string>)[name === 'user' ? 'user_id' : name]
}

/** Whether calls are counted against limits. */
export function isLimited({ limited }: AnyRoute): boolean {
  return limited !== false
}
