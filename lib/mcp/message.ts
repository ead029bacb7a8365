import { MAX_LENGTH } from '../core/lengths.ts'
import { RpcError } from './failures.ts'
import { isObject, type Json, LEGACY, META, MODERN, type RequestId, RPC, UNNAMED, VERSIONS } from './protocol.ts'

/** A request of the protocol. */
export interface RpcRequest {
  id: RequestId
  method: string
  params: Json
}

/** The revision that a request is of, and in a modern one what its client can do. */
export interface Revision {
  is_modern: boolean
  version: string
  capabilities: Json
}

const invalid = (message: string) => new RpcError(RPC.invalid_request, message, { status: 400 })

/**
 * The request of a body.
 *
 * @returns `undefined` for a notification
 * @throws RpcError for anything else
 */
export function readMessage(body: unknown): RpcRequest | undefined {
  if (!isObject(body)) throw invalid('Send one JSON-RPC request: an object.')
  const { jsonrpc, id, method, params = {} } = body
  if (jsonrpc !== '2.0') throw invalid('"jsonrpc" must be "2.0".')
  if (typeof method !== 'string') throw invalid('"method" must be a text.')
  if (!isObject(params)) throw invalid('"params" must be an object.')
  if (!('id' in body)) return undefined
  const isText = typeof id === 'string' && id.length <= MAX_LENGTH.token
  if (!isText && !Number.isSafeInteger(id)) throw invalid('"id" must be a text or a whole number.')
  return { id: id as RequestId, method, params }
}

/** The parameter that the header `Mcp-Name` repeats, by method. */
const NAMES = new Map([
  ['tools/call', 'name'],
  ['resources/read', 'uri'],
  ['tasks/get', 'taskId'],
  ['tasks/update', 'taskId'],
  ['tasks/cancel', 'taskId'],
])

/**
 * The revision of a request, whose headers must repeat what they are of.
 *
 * @throws RpcError `header_mismatch`, `unsupported_version`, `invalid_params`
 */
export function readRevision(headers: Pick<Headers, 'get'>, { method, params }: RpcRequest): Revision {
  const meta = isObject(params._meta) ? params._meta : {}
  const header = headers.get('mcp-protocol-version') ?? undefined
  const inBody = meta[META.version]
  const isModern = header === MODERN || (inBody !== undefined && !LEGACY.includes(inBody as string))
  if (!isModern) {
    if (header !== undefined && !LEGACY.includes(header)) throw unsupported(header)
    if (header !== undefined && inBody !== undefined && header !== inBody) throw mismatch('MCP-Protocol-Version')
    return { is_modern: false, version: header ?? UNNAMED, capabilities: {} }
  }
  if (header === undefined || (inBody !== undefined && header !== inBody)) throw mismatch('MCP-Protocol-Version')
  if (header !== MODERN) throw unsupported(header)
  if (decoded(headers.get('mcp-method')) !== method) throw mismatch('Mcp-Method')
  const name = NAMES.get(method)
  const header_name = decoded(headers.get('mcp-name'))
  if (name !== undefined && (header_name === undefined || header_name !== params[name])) throw mismatch('Mcp-Name')
  const capabilities = meta[META.capabilities]
  if (inBody === undefined) throw missing(META.version)
  if (!isObject(capabilities)) throw missing(META.capabilities)
  return { is_modern: true, version: header, capabilities }
}

/** The value of a header; one with other characters than those of headers comes in base 64. */
function decoded(header: string | null): string | undefined {
  if (header === null) return undefined
  const encoded = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/.exec(header)?.[1]
  return encoded === undefined ? header : Buffer.from(encoded, 'base64').toString('utf8')
}

function mismatch(header: string): RpcError {
  const message = `The header ${header} is missing, or is not what the body says.`
  return new RpcError(RPC.header_mismatch, message, { status: 400 })
}

function missing(field: string): RpcError {
  return new RpcError(RPC.invalid_params, `"_meta" lacks "${field}".`, { status: 400 })
}

/** @param requested as the client wrote it, which it gets back */
function unsupported(requested: string): RpcError {
  return new RpcError(RPC.unsupported_version, 'This revision of the protocol is not spoken here.', {
    status: 400,
    data: { supported: VERSIONS, requested },
  })
}
