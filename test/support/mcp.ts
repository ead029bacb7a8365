import { createEventReader, isEventStream } from '../../lib/core/sse-format.ts'
import type { TestService } from './service.ts'

/** A message of JSON-RPC, as it is read. */
// biome-ignore lint/suspicious/noExplicitAny: tests look at whatever a message has.
export type Rpc = any

/** What of a request a test changes. */
export interface McpOptions {
  /** The bearer. */
  key?: string | undefined
  /** Replaces headers; `undefined` removes one. */
  headers?: Record<string, string | undefined>
  /** Whether it is of the revisions that begin with `initialize`. */
  legacy?: string
  capabilities?: object
  meta?: object
  id?: unknown
  signal?: AbortSignal
}

const VERSION = '2026-07-28'
const NAMES: Record<string, string> = { 'tools/call': 'name', 'resources/read': 'uri' }

/** The body of a request. */
export function mcpBody(method: string, params: Record<string, unknown> = {}, options: McpOptions = {}): object {
  const { legacy, capabilities = {}, meta, id = 1 } = options
  const own = {
    'io.modelcontextprotocol/protocolVersion': VERSION,
    'io.modelcontextprotocol/clientCapabilities': capabilities,
    ...meta,
  }
  const _meta = legacy === undefined ? own : meta
  return { jsonrpc: '2.0', id, method, params: { ...params, ...(_meta && { _meta }) } }
}

/** The headers of a request. */
export function mcpHeaders(method: string, params: Record<string, unknown> = {}, options: McpOptions = {}): Headers {
  const { key, legacy } = options
  const name = params[NAMES[method] ?? (method.startsWith('tasks/') ? 'taskId' : '')]
  const headers = new Headers({
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': legacy ?? VERSION,
    ...(legacy === undefined && { 'mcp-method': method }),
    ...(legacy === undefined && typeof name === 'string' && { 'mcp-name': name }),
    ...(key !== undefined && { authorization: `Bearer ${key}` }),
  })
  for (const [header, value] of Object.entries(options.headers ?? {}))
    if (value === undefined) headers.delete(header)
    else headers.set(header, value)
  return headers
}

/** Sends a request. */
export function sendMcp(
  { base_url }: Pick<TestService, 'base_url'>,
  method: string,
  params: Record<string, unknown> = {},
  options: McpOptions = {},
): Promise<Response> {
  return fetch(`${base_url}/mcp`, {
    method: 'POST',
    headers: mcpHeaders(method, params, options),
    body: JSON.stringify(mcpBody(method, params, options)),
    ...(options.signal && { signal: options.signal }),
  })
}

/** The messages of a response, the last of which is that of the request; comments are left out. */
export async function* readRpc(response: Response): AsyncGenerator<Rpc> {
  if (!isEventStream(response)) {
    yield await response.json()
    return
  }
  const read = createEventReader(10_000_000)
  const decoder = new TextDecoder()
  for await (const chunk of response.body!)
    for (const { data } of read(decoder.decode(chunk, { stream: true }))) yield JSON.parse(data)
}

/** The response to a request, whether it is streamed or not. */
export async function callMcp(
  service: Pick<TestService, 'base_url'>,
  method: string,
  params: Record<string, unknown> = {},
  options: McpOptions = {},
): Promise<Rpc> {
  let last: Rpc
  for await (const message of readRpc(await sendMcp(service, method, params, options))) last = message
  return last
}

/** The result of a tool. */
export async function callMcpTool(
  service: Pick<TestService, 'base_url'>,
  key: string,
  name: string,
  args: object = {},
  options: McpOptions = {},
): Promise<Rpc> {
  const { result, error } = await callMcp(service, 'tools/call', { name, arguments: args }, { key, ...options })
  if (error) throw Object.assign(new Error(error.message), { code: error.code, data: error.data })
  return result
}
