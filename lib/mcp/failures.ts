import type { McpScope } from '../core/actor.ts'
import { ChatError } from '../core/errors.ts'
import { type Json, type RequestId, RPC } from './protocol.ts'

/** What a failure of the protocol has besides its code and message. */
interface RpcDetails {
  /** The status of the HTTP response. Default: 200. */
  status?: number
  data?: Json
  /** The scope that a token lacks. */
  needed?: McpScope
}

/** A failure with a code of the protocol, as its client reads it. */
export class RpcError extends Error {
  override readonly name = 'RpcError'
  readonly code: number
  readonly status: number
  readonly data: Json | undefined
  readonly needed: McpScope | undefined

  constructor(code: number, message: string, { status = 200, data, needed }: RpcDetails = {}) {
    super(message)
    this.code = code
    this.status = status
    this.data = data
    this.needed = needed
  }
}

/** Wrong parameters of a method, or arguments of a tool. */
export function invalidParams(message: string, data?: Json): RpcError {
  return new RpcError(RPC.invalid_params, message, data && { data })
}

/**
 * The header by which a client learns how to get a token (RFC 6750, section 3).
 *
 * @param error missing where the request has no token
 * @param metadata the address of the document that says where
 */
function challenge(error?: 'invalid_token' | 'insufficient_scope', scope?: McpScope, metadata?: string): string {
  const parameters = [
    ...(error ? [`error="${error}"`] : []),
    ...(scope ? [`scope="${scope}"`] : []),
    ...(metadata ? [`resource_metadata="${metadata}"`] : []),
  ]
  return ['Bearer', parameters.join(', ')].join(' ').trim()
}

/** A call whose token does not allow it. */
export function insufficientScope(scope: McpScope): RpcError {
  return new RpcError(403, `This takes the scope ${scope}, which the token does not have.`, {
    status: 403,
    data: { code: 'forbidden', reason: 'scope' },
    needed: scope,
  })
}

/** A failed request, as it is sent. */
export interface RpcFailure {
  status: number
  headers: Record<string, string>
  body: Json
}

/** What a failure is of. */
export interface FailedRequest {
  /** Missing where the request cannot be read that far. */
  id?: RequestId | undefined
  request_id: string
  /** Whether the request has a token. */
  has_token?: boolean
  /** Where a client finds out how to get a token; missing where it cannot. */
  metadata?: string | undefined
}

/** A failure of a request. Only a {@link ChatError} and an {@link RpcError} are disclosed. */
export function toRpcFailure(error: unknown, request: FailedRequest): RpcFailure {
  const { code, status, message, data, headers } =
    error instanceof RpcError ? withRequestId(error, request) : ofChatError(toChatError(error), request)
  const id = request.id === undefined ? {} : { id: request.id }
  return { status, headers, body: { jsonrpc: '2.0', ...id, error: { code, message, ...(data && { data }) } } }
}

function withRequestId(error: RpcError, { request_id, metadata }: FailedRequest) {
  const { code, status, message, data, needed } = error
  const headers: Record<string, string> = needed
    ? { 'www-authenticate': challenge('insufficient_scope', needed, metadata) }
    : {}
  return { code, status, message, headers, data: code > 0 ? { ...data, request_id } : data }
}

/** A challenge with what to ask for at first. */
function unauthenticated(has_token: boolean | undefined, metadata: string | undefined): string {
  return challenge(has_token ? 'invalid_token' : undefined, metadata ? 'chat:read' : undefined, metadata)
}

function ofChatError(error: ChatError, { request_id, has_token, metadata }: FailedRequest) {
  const { code, status, message, reason, errors, retry_after_seconds } = error
  if (code === 'malformed_json') return { code: RPC.parse_error, status: 400, message, data: undefined, headers: {} }
  // As every 503: the service may be available again in a moment.
  const retry_after = retry_after_seconds ?? (status === 503 ? 1 : undefined)
  const headers = {
    ...(status === 401 && { 'www-authenticate': unauthenticated(has_token, metadata) }),
    ...(retry_after !== undefined && { 'retry-after': String(retry_after) }),
  }
  const more = {
    ...(reason && { reason }),
    ...(errors && { errors }),
    ...(retry_after !== undefined && { retry_after }),
  }
  return { code: status, status, message, data: { code, request_id, ...more }, headers }
}

function toChatError(error: unknown): ChatError {
  return error instanceof ChatError ? error : new ChatError('internal', { cause: error })
}
