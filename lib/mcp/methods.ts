import type { McpCall, McpMethod } from './call.ts'
import { discover, initialize, ping } from './discover.ts'
import { RpcError } from './failures.ts'
import { isObject, RPC } from './protocol.ts'
import { callTool } from './tools/call.ts'
import { listTools } from './tools/list.ts'

/** Every method. */
const METHODS: Record<string, McpMethod> = {
  'server/discover': discover,
  initialize,
  ping,
  'tools/list': listTools,
  'tools/call': callTool,
}

/**
 * The method of a request.
 *
 * @throws RpcError `method_not_found`, `missing_capability`
 */
export function findMethod({ request, revision }: Pick<McpCall, 'request' | 'revision'>): McpMethod {
  const method = Object.hasOwn(METHODS, request.method) ? METHODS[request.method] : undefined
  const isThere = method?.revisions === 'all' || method?.revisions === (revision.is_modern ? 'modern' : 'legacy')
  if (!method || !isThere)
    throw new RpcError(RPC.method_not_found, 'There is no such method.', { status: revision.is_modern ? 404 : 200 })
  if (method.extension !== undefined) assertDeclared(revision, method.extension)
  return method
}

/**
 * Whether the client of a request has declared an extension.
 *
 * @throws RpcError `missing_capability`
 */
export function assertDeclared(revision: McpCall['revision'], extension: string): void {
  if (declares(revision, extension)) return
  throw new RpcError(
    RPC.missing_capability,
    `This needs the extension ${extension}, which the request does not declare.`,
    {
      status: 400,
      data: { requiredCapabilities: { extensions: { [extension]: {} } } },
    },
  )
}

/** Whether the client of a request has declared an extension. */
export function declares({ capabilities }: McpCall['revision'], extension: string): boolean {
  const { extensions } = capabilities
  return isObject(extensions) && isObject(extensions[extension])
}
