import type { McpCall, McpMethod } from './call.ts'
import { discover, initialize, ping } from './discover.ts'
import { assertDeclared } from './extensions.ts'
import { RpcError } from './failures.ts'
import { RPC } from './protocol.ts'
import { listResources, listTemplates } from './resources/list.ts'
import { readResource } from './resources/read.ts'
import { listen } from './subscriptions/listen.ts'
import { cancelTask, getTask, updateTask } from './tasks/methods.ts'
import { callTool } from './tools/call.ts'
import { listTools } from './tools/list.ts'

/** Every method. */
const METHODS: Record<string, McpMethod> = {
  'server/discover': discover,
  initialize,
  ping,
  'tools/list': listTools,
  'tools/call': callTool,
  'resources/list': listResources,
  'resources/templates/list': listTemplates,
  'resources/read': readResource,
  'subscriptions/listen': listen,
  'tasks/get': getTask,
  'tasks/update': updateTask,
  'tasks/cancel': cancelTask,
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
