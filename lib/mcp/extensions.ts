import type { McpCall } from './call.ts'
import { RpcError } from './failures.ts'
import { isObject, RPC } from './protocol.ts'

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
