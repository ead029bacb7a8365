import { resourceMetadataUrl } from '../accounts/grants/metadata.ts'
import type { Context } from '../context.ts'
import type { Actor } from '../core/actor.ts'
import { ChatError } from '../core/errors.ts'
import { formatComment, formatEvent } from '../core/sse-format.ts'
import { notAcceptable, readAccept } from './accept.ts'
import type { McpCall, McpMethod, McpStream, PreparedCall, Pressure } from './call.ts'
import { SERVER_INFO } from './discover.ts'
import { RpcError, toRpcFailure } from './failures.ts'
import { readMessage, readRevision } from './message.ts'
import { findMethod } from './methods.ts'
import { isObject, type Json, META, type RequestId } from './protocol.ts'
import { scopesOf } from './scopes.ts'

/** A request whose caller is known, and whose body was JSON. */
export interface McpRequest {
  headers: Headers
  body: unknown
  actor: Actor
  request_id: string
  /** Aborted when the client has disconnected. */
  signal: AbortSignal
}

/** Where the text of a stream goes. */
export interface TextSink extends Pressure {
  write(text: string): void
  end(): void
}

/** A response that is sent as a whole: one message of JSON, or nothing. */
export interface WholeReply {
  status: number
  headers: Record<string, string>
  body: Json | undefined
}

/** A response that is an event stream, which begins once it has a sink. */
export interface StreamedReply {
  /** @returns a function that ends the call: its client has closed the stream */
  open(sink: TextSink): () => void
  /** Called instead, where the client has left before. */
  cancel(): void
}

/** Makes the call of a request. It rejects never: failures are responses. */
export async function answerMcp(ctx: Context, given: McpRequest): Promise<WholeReply | StreamedReply> {
  const { headers, request_id, signal } = given
  const actor = asAgent(ctx, given.actor)
  let id: RequestId | undefined
  try {
    const request = readMessage(given.body)
    if (!request) return { status: 202, headers: {}, body: undefined }
    id = request.id
    const revision = readRevision(headers, request)
    const call: McpCall = {
      ctx,
      actor,
      request,
      revision,
      scopes: scopesOf(actor),
      accepted: readAccept(headers),
    }
    const method = findMethod(call)
    if (actor.is_bot) ctx.streams.presence.noteReading(actor.user_id)
    const prepared = await method.prepare(call)
    const { json, events } = call.accepted
    if (prepared.streams === 'always' && !events) {
      prepared.cancel?.()
      throw notAcceptable('This is a stream: accept text/event-stream.')
    }
    if (prepared.streams && events) return stream(call, method, prepared, request_id)
    if (!json) return stream(call, method, prepared, request_id)
    const result = await prepared.run(NO_STREAM, signal)
    return { status: 200, headers: {}, body: toResponse(call, method, result) }
  } catch (error) {
    explain(ctx, request_id, error)
    return toRpcFailure(error, { id, request_id, metadata: resourceMetadataUrl(ctx.config) })
  }
}

const NO_PRESSURE: Pressure = { pending: () => 0, drained: async () => {} }
const NO_STREAM: McpStream = { notify() {}, progress() {}, beat() {}, pressure: NO_PRESSURE }

/** The actor of a call over MCP, which is recognised as the caller was. */
function asAgent({ streams: { logins } }: Context, actor: Actor): Actor {
  const agent: Actor = { ...actor, by_mcp: true }
  const login = logins.get(actor)
  if (login) logins.set(agent, login)
  return agent
}

/** The message with a result. */
function toResponse({ request, revision }: McpCall, { ttl_ms }: McpMethod, result: Json): Json {
  if (!revision.is_modern) return { jsonrpc: '2.0', id: request.id, result }
  const { _meta, ...rest } = result
  const kept = ttl_ms === undefined ? {} : { ttlMs: ttl_ms, cacheScope: 'private' }
  const meta = { [META.server]: SERVER_INFO, ...(_meta as Json | undefined) }
  return { jsonrpc: '2.0', id: request.id, result: { resultType: 'complete', ...rest, ...kept, _meta: meta } }
}

function stream(call: McpCall, method: McpMethod, prepared: PreparedCall, request_id: string): StreamedReply {
  return {
    cancel: () => prepared.cancel?.(),
    open(sink) {
      const closing = new AbortController()
      const send = (message: Json) => {
        if (!closing.signal.aborted) sink.write(formatEvent({ data: JSON.stringify(message) }))
      }
      const notify = (name: string, params: Json) => send({ jsonrpc: '2.0', method: name, params })
      const token = progressTokenOf(call)
      const out: McpStream = {
        notify,
        progress: (progress) =>
          token !== undefined && notify('notifications/progress', { progressToken: token, progress }),
        beat: () => closing.signal.aborted || sink.write(formatComment('keep-alive')),
        pressure: sink,
      }
      prepared
        .run(out, closing.signal)
        .then(
          (result) => send(toResponse(call, method, result)),
          (error) => {
            explain(call.ctx, request_id, error)
            send(toRpcFailure(error, { id: call.request.id, request_id }).body)
          },
        )
        .finally(() => {
          closing.abort()
          sink.end()
        })
      return () => closing.abort()
    },
  }
}

/** The token of a client that wants to know how far its call is. */
function progressTokenOf({ request }: McpCall): RequestId | undefined {
  const { progressToken } = isObject(request.params._meta) ? request.params._meta : {}
  return typeof progressToken === 'string' || typeof progressToken === 'number' ? progressToken : undefined
}

/** Logs what the client does not get: the cause of a bug, or of a failure of the storage. */
function explain({ log }: Context, request_id: string, error: unknown): void {
  if (error instanceof RpcError || (error instanceof ChatError && error.status < 500)) return
  const cause = error instanceof Error ? (error.stack ?? error.message) : String(error)
  if (!(error instanceof ChatError)) log.error('Request failed', { request_id, route: '/mcp', cause })
  else if (error.cause)
    log.warn('Request failed because of the storage', { request_id, route: '/mcp', cause: String(error.cause) })
}
