import { metadataPaths } from '../../accounts/grants/metadata.ts'
import { basePathOf } from '../../config/base-path.ts'
import { contextOf } from '../../core/context-of.ts'
import type { Chat } from '../../service.ts'

/** The headers of a document that pages of any origin may read. */
export const METADATA_HEADERS = {
  'access-control-allow-origin': '*',
  'cross-origin-resource-policy': 'cross-origin',
  'content-type': 'application/json',
  'cache-control': 'public, max-age=300',
}

/**
 * Responds at the root of a host below one of whose paths the service is: clients of MCP look there for the documents that say how
 * to get a token, such as `/.well-known/oauth-authorization-server/chat`.
 *
 * @returns a function of a request, which returns `undefined` for every other path
 */
export function createWellKnownHandler(chat: Chat): (request: Request) => Response | undefined {
  const { config } = contextOf(chat)
  return ({ url, method }) => {
    const document = metadataPaths(config, basePathOf(config)).get(new URL(url).pathname)
    if (!document) return undefined
    if (method === 'OPTIONS')
      return new Response(null, {
        status: 204,
        headers: {
          'access-control-allow-origin': '*',
          'access-control-allow-methods': 'GET, HEAD',
          'access-control-allow-headers': 'MCP-Protocol-Version',
        },
      })
    if (method !== 'GET' && method !== 'HEAD')
      return new Response(null, { status: 405, headers: { allow: 'GET, HEAD, OPTIONS' } })
    return new Response(method === 'HEAD' ? null : JSON.stringify(document), { headers: METADATA_HEADERS })
  }
}
