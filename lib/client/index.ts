import type * as v from 'valibot'
import { readCookie } from '../core/headers.ts'
import type { CompatFailure } from '../openai-api/schema.ts'
import { ChatError, ERRORS, type ErrorCode, type FieldError } from '../core/errors.ts'
import { createPauses, pause, retryAfterOf, spread } from './backoff.ts'
import type { ConversationStreamEvent } from '../chat/events/schema.ts'
import { readEvents, readPieces } from './event-stream.ts'
import { type AnyRoute, HEADER_FIELDS, type Params, type Route } from '../endpoint.ts'
import { routes } from '../endpoints.ts'

export { ChatError, type ErrorCode } from '../core/errors.ts'
export type { ConversationStreamEvent } from '../chat/events/schema.ts'
export type { Message } from '../chat/messages/schema.ts'

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

/** How often a read is tried again when the service cannot be reached or asks to wait. */
const ATTEMPTS = 3

/** A client of a service, for browsers and Node. It keeps the session: cookies where the runtime does not, and the CSRF token. */
export function createChatClient(options: ClientOptions): ChatClient {
  const { api_key, csrf_cookie_name = 'CSRF-TOKEN', csrf_header_name = 'X-CSRF-TOKEN' } = options
  const send = options.fetch ?? fetch
  const base = options.base_url.replace(/\/$/, '')
  // Browsers keep cookies themselves and show us none of these.
  const jar = new Map<string, string>()
  let signedInWith = options.csrf_token

  function csrfToken(): string | undefined {
    return (
      jar.get(csrf_cookie_name) ??
      (typeof document === 'undefined' ? undefined : readCookie(document.cookie, csrf_cookie_name)) ??
      signedInWith
    )
  }

  async function request(
    method: string,
    path: string,
    init: { body?: unknown; headers?: Record<string, string>; signal?: AbortSignal } = {},
  ): Promise<Response> {
    const headers: Record<string, string> = { ...init.headers }
    if (api_key !== undefined) headers.authorization = `Bearer ${api_key}`
    else if (jar.size > 0) headers.cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const token = api_key === undefined ? csrfToken() : undefined
    if (method !== 'GET' && token) headers[csrf_header_name] = token
    if (init.body !== undefined) headers['content-type'] = 'application/json'
    const response = await send(base + path, {
      method,
      headers,
      credentials: api_key === undefined ? 'include' : 'omit',
      ...(init.body !== undefined && { body: JSON.stringify(init.body) }),
      ...(init.signal && { signal: init.signal }),
    })
    for (const cookie of response.headers.getSetCookie?.() ?? []) keepCookie(jar, cookie)
    if (!response.ok) throw await toChatError(response)
    return response
  }

  async function call(
    route: AnyRoute,
    input: {
      params?: Record<string, string>
      query?: Record<string, unknown>
      body?: unknown
      headers?: Record<string, string>
    } = {},
  ): Promise<unknown> {
    refuseMistakes(route, input)
    const encode = route.takes_rest ? encodeURI : encodeURIComponent
    const path = pathOf(route.path, input.params ?? {}, input.query ?? {}, encode)
    const body = route.body ? (input.body ?? (route.body_optional ? undefined : {})) : undefined
    const accept = route.answer === 'redirect' && { accept: 'application/json' }
    const init = { body, headers: { ...accept, ...input.headers } }
    const attempt = () => request(route.method, path, init)
    const response = await (route.changes || route.answer === 'redirect' ? attempt() : repeated(attempt))
    if (route.answer === 'session' && route.access !== 'public' && response.status === 204) signedInWith = undefined
    if (response.status === 204) return undefined
    if (route.answer === 'text' || route.answer === 'document') return response.text()
    if (response.headers.get('content-type') === 'text/event-stream') return readPieces(response.body!)
    const fields = Object.entries(HEADER_FIELDS).flatMap(([field, header]) => {
      const value = response.headers.get(header)
      return value === null ? [] : [[field, value]]
    })
    const value = (await response.json()) as { csrf_token?: string }
    if (route.answer === 'session' && value.csrf_token) signedInWith = value.csrf_token
    return fields.length > 0 ? { ...value, ...Object.fromEntries(fields) } : value
  }

  async function* stream(path: string, { last_event_id, signal }: FollowOptions = {}): AsyncGenerator<ReceivedEvent> {
    let last = last_event_id
    let wasOpen = false
    const pauses = createPauses(options.retry_ms)
    while (!signal?.aborted) {
      let wait = 0
      try {
        const headers = { accept: 'text/event-stream', ...(last !== undefined && { 'last-event-id': last }) }
        const response = await request('GET', path, { headers, ...(signal && { signal }) })
        wasOpen = true
        pauses.opened()
        for await (const { id, data } of readEvents(response.body!, pauses.told)) {
          const event = JSON.parse(data) as ConversationStreamEvent
          last = id ?? last
          yield id === undefined ? { event } : { id, event }
          if (
            event.type === 'stream.closed' &&
            (event.payload.reason === 'session_ended' || event.payload.reason === 'removed')
          )
            return
        }
      } catch (error) {
        if (signal?.aborted) return
        if (error instanceof ChatError) {
          // What the stream would have ended with, had it not been lost just then.
          if (wasOpen && (error.status === 401 || error.status === 404)) return
          // The lost stream may still have its place for a while.
          if (!isPassing(error) && !(wasOpen && error.code === 'too_many_streams')) throw error
          wait = (error.retry_after_seconds ?? 0) * 1000
        }
      }
      await pause(pauses.next(wait), signal)
    }
  }

  const methods = Object.entries<AnyRoute>(routes)
    .filter(([, route]) => route.answer !== 'stream')
    .map(([name, route]) => [name, (input?: object) => call(route, input)])
  return {
    ...Object.fromEntries(methods),
    follow: (conversation_id, options) =>
      stream(pathOf(routes.streamConversation.path, { conversation_id }, {}), options),
    followAll: (options) => stream(routes.streamAll.path, options),
  } as ChatClient
}

/** @throws TypeError naming what is missing, or is not known: a service would take it for something else, or for nothing */
function refuseMistakes(route: AnyRoute, input: { params?: object; query?: object }): void {
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
  const given = { ...input.params } as Record<string, unknown>
  const fail = (what: string) => {
    const takes = names.length > 0 ? `params: { ${names.join(', ')} }` : 'no params'
    throw new TypeError(`${route.method} ${route.path} ${what}: it takes ${takes}`)
  }
  const part = Object.keys(input).find((name) => !['params', 'query', 'body', 'headers'].includes(name))
  if (part !== undefined) fail(`knows no "${part}"`)
  for (const name of names)
    if (typeof given[name] !== 'string') fail(`lacks "${name}" among the params ${JSON.stringify(Object.keys(given))}`)
}

function pathOf(
  template: string,
  params: Record<string, string>,
  query: Record<string, unknown>,
  encode: (text: string) => string = encodeURIComponent,
): string {
  const path = template.replace(/\{(\w+)\}/g, (_, name) => encode(params[name] ?? ''))
  const search = new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
  )
  return search.size > 0 ? `${path}?${search}` : path
}

function keepCookie(jar: Map<string, string>, cookie: string): void {
  const [pair = '', ...attributes] = cookie.split(';')
  const name = pair.slice(0, pair.indexOf('='))
  if (attributes.some((attribute) => attribute.trim().toLowerCase() === 'max-age=0')) jar.delete(name)
  else jar.set(name, pair.slice(name.length + 1))
}

interface FailureBody extends Partial<CompatFailure> {
  code?: string
  detail?: string
  errors?: FieldError[]
}

async function toChatError(response: Response): Promise<ChatError> {
  const problem = toProblem(await response.json().catch(() => ({})))
  // Gateways answer for a service they cannot reach.
  const otherwise = response.status >= 502 && response.status <= 504 ? 'unavailable' : 'internal'
  const code = (problem.code && Object.hasOwn(ERRORS, problem.code) ? problem.code : otherwise) as ErrorCode
  const retry_after_seconds = retryAfterOf(response.headers.get('retry-after'), Date.now())
  return new ChatError(code, {
    ...(problem.detail && { message: problem.detail }),
    ...(problem.errors && { errors: problem.errors }),
    ...(retry_after_seconds !== undefined && { retry_after_seconds }),
  })
}

/** What a failure says, in either of the shapes it can have. */
function toProblem(body: FailureBody): Omit<FailureBody, 'error'> {
  if (!body.error) return body
  const { code, message, param } = body.error
  return { code, detail: message, ...(param && { errors: [{ path: param, message }] }) }
}

async function repeated<T>(attempt: () => Promise<T>): Promise<T> {
  for (let left = ATTEMPTS - 1; ; left--) {
    try {
      return await attempt()
    } catch (error) {
      const mayPass = error instanceof ChatError ? isPassing(error) : error instanceof TypeError
      if (!mayPass || left === 0) throw error
      await pause(spread(Math.min(5, (error instanceof ChatError && error.retry_after_seconds) || 1) * 1000))
    }
  }
}

/** Whether to wait helps. */
function isPassing({ code }: ChatError): boolean {
  return code === 'unavailable' || code === 'rate_limited'
}
