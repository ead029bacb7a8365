import type * as v from 'valibot'
import type { Client, SignedIn } from './accounts/sessions/service.ts'
import type { Opening } from './chat/events/service.ts'
import type { Actor } from './core/actor.ts'
import { contextOf } from './core/context-of.ts'
import type { ErrorCode } from './core/errors.ts'
import type { RESULT_HEADERS } from './core/headers.ts'
import { type AnyUseCase, bind, type UseCase } from './core/use-case.ts'
import type { Endpoint } from './limits/rules.ts'
import type { Chat } from './service.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Who may call: anybody; anybody, but a session counts; a signed-in user; or one who is an administrator (the use-case checks). */
export type Access = 'public' | 'optional' | 'session' | 'admin'

/**
 * What comes back: JSON; JSON with session cookies, which are cleared when there is nothing; the same, or for who does
 * not ask for JSON a redirect; JSON with the cookie that binds a sign-in through a provider; an event stream; text;
 * or a document, which is text that brings its media type along.
 */
export type AnswerKind = 'json' | 'session' | 'redirect' | 'binding' | 'stream' | 'text' | 'document'

/** Headers that only some routes answer with. */
export type ResponseHeaders = {
  readonly [Name in
    | keyof typeof RESULT_HEADERS
    | 'Set-Cookie'
    | 'X-Session-Rotated'
    | 'Cache-Control'
    | 'X-Accel-Buffering']?: 'always' | 'maybe'
}

/** The groups of the documentation. */
export type Tag =
  | 'Setup'
  | 'Authentication'
  | 'Conversations'
  | 'Invites'
  | 'Users'
  | 'Threads and messages'
  | 'Presence'
  | 'Stream'
  | 'Administration'
  | 'Operations'
  | 'Compatibility'

/** `'/a/{b}/{c}'` → `'b' | 'c'` */
type ParamNames<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamNames<Rest>
  : never
export type Params<Path extends string> = { [Name in ParamNames<Path>]: string }

type Input<Schema> = Schema extends v.GenericSchema ? v.InferInput<Schema> : undefined

/** What a handler gets. Query and body have the right shape only once the use-case has validated them. */
export interface Call<Path extends string, A extends Access, Q, B> {
  chat: Chat
  actor: A extends 'public' ? undefined : A extends 'optional' ? Actor | undefined : Actor
  params: Params<Path>
  query: Input<Q>
  body: Input<B>
  headers: Headers
  client: Client
  /** Every route that can be limited. */
  endpoints: readonly Endpoint[]
}

/** What a handler may return, by the kind of answer. */
type Result<K extends AnswerKind, O, C> = K extends 'stream'
  ? Opening
  : K extends 'text'
    ? string | Uint8Array
    : K extends 'document'
      ? { content_type: string; body: string }
      : K extends 'redirect'
        ? { signed_in: SignedIn; redirect_to: string }
        : O extends v.GenericSchema
          ?
              | (v.InferInput<O> & (K extends 'binding' ? { binding: string } : unknown))
              | (C extends v.GenericSchema ? Iterable<v.InferInput<C>> : never)
          : // biome-ignore lint/suspicious/noConfusingVoidType: a use-case that answers with nothing returns void.
            void | (K extends 'session' ? { device: string } : never)

/** The one description of an endpoint: routing, validation, CSRF, OpenAPI and the typed client come from it. */
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
  /** Whether the last parameter of the path takes all that is left of it, slashes included. */
  takes_rest?: true
  tag: Tag
  /** What it does, in a few words; then what else its callers should know. Both are Markdown. */
  summary: string
  description: string
  access: A
  /**
   * Part of the service's own sign-in: no API key may call it, and it is not there where the host decides who calls
   * (`ports.identity`).
   */
  sign_in?: true
  /** Whether a call changes something; one that does is refused to other sites, and never sent twice by itself. */
  changes: boolean
  answer: K
  query: Q
  /** Headers that mean something here, in lower case; for the documentation. */
  headers?: v.GenericSchema
  body: B
  /** A body as it may be sent. */
  example?: Input<B>
  /** Whether the call may come without a body. */
  body_optional?: boolean
  /** The status of success. */
  status: number
  output: O
  /** What `stream: true` in the body gets instead of the output: an event stream of these, which ends with `[DONE]`. */
  pieces: C
  /**
   * Headers of the successful answer, and whether it always has them, beside those that all answers have or the limits
   * add. The value of one in {@link RESULT_HEADERS} is a field of the output, which its body then lacks.
   */
  response_headers: ResponseHeaders
  /** The codes this route adds to those every route of its access has. */
  errors: readonly ErrorCode[]
  /** `false` where no limit counts the calls: they are the operator's, not a user's. */
  limited?: false
  /** `false` where no metric counts the answers: those would show who signs in, and how often that fails. */
  metrics?: false
  /** The level at which calls are logged, where it is not the usual one: probes would fill the log. */
  log?: 'debug'
  /** What the calls are counted as, when it is not a call of the user's or the address's: an attempt to get in. */
  limited_as?: 'sign_in'
  /** Whether `metrics.token` is asked for, where one is configured. */
  metrics_token?: true
  /** Of a text answer. */
  content_type?: string
  /** Settles the call before anything of the request is looked at, the body unread. */
  before?: (call: { chat: Chat }) => Promise<void>
  handler: (call: Call<Path, A, Q, B>) => Promise<Result<K, O, C>> | Result<K, O, C>
}

/** Any endpoint, where the types of its parts do not matter. */
// biome-ignore lint/suspicious/noExplicitAny: a handler's argument is contravariant, so no other type takes every route.
export type AnyRoute = Route<any, any, any, any, any, any, any>

type Defaults = 'changes' | 'answer' | 'query' | 'body' | 'status' | 'output' | 'pieces' | 'response_headers' | 'errors'

/** Methods whose input comes in the query. */
type Bodiless = 'GET' | 'DELETE'

type Spec<R extends AnyRoute> = Omit<R, Defaults> & Partial<Pick<R, Defaults>>

/**
 * Makes a route value of a use-case: its input comes in the query with GET and DELETE and in the body with other methods,
 * its errors are the use-case's. What is left out: JSON, 200, no output, no pieces, and that everything but GET changes
 * something.
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
/** Makes a route value with a handler of its own, for a call whose input is not just a query or a body. */
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

/** Calls a use-case with what it takes of a request. */
function callUseCase(useCase: AnyUseCase, call: AnyCall): unknown {
  const { chat, actor, client, endpoints, params, query, body } = call
  const known: Record<string, unknown> = { ...params, actor, 'actor?': actor, client, endpoints }
  const args = (useCase.takes as string[]).map((name) => known[name])
  return bind(contextOf(chat), useCase)(...args, query ?? body)
}

/** Whether calls are counted against limits. */
export function isLimited({ limited }: AnyRoute): boolean {
  return limited !== false
}
