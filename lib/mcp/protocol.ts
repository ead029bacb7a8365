/** The revision of the protocol whose requests describe themselves. */
export const MODERN = '2026-07-28'

/** The revisions of the protocol that begin with `initialize`, newest first. */
export const LEGACY: readonly string[] = ['2025-11-25', '2025-06-18']

/** The revision of a request that names none: the first that has the header, so older clients do not send it. */
export const UNNAMED = '2025-06-18'

/** Every revision that is spoken here, newest first. */
export const VERSIONS: readonly string[] = [MODERN, ...LEGACY]

/** The names of fields in `_meta`. */
export const META = {
  version: 'io.modelcontextprotocol/protocolVersion',
  capabilities: 'io.modelcontextprotocol/clientCapabilities',
  server: 'io.modelcontextprotocol/serverInfo',
  subscription: 'io.modelcontextprotocol/subscriptionId',
} as const

/** The extension by which a call may become a task. */
export const TASKS = 'io.modelcontextprotocol/tasks'

/** The codes of JSON-RPC and of the protocol; for other failures, the code is the HTTP status. */
export const RPC = {
  parse_error: -32_700,
  invalid_request: -32_600,
  method_not_found: -32_601,
  invalid_params: -32_602,
  /** A missing resource, in the legacy revisions. */
  resource_not_found: -32_002,
  header_mismatch: -32_020,
  missing_capability: -32_021,
  unsupported_version: -32_022,
} as const

/** The id of a request, which its response repeats. */
export type RequestId = string | number

/** An object of JSON. */
export type Json = Record<string, unknown>

/** Whether a value of JSON is an object. */
export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
