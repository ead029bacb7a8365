import { metadataPaths } from '../../accounts/grants/metadata.ts'
import { basePathOf } from '../../config/base-path.ts'
import { contextOf } from '../../core/context-of.ts'
import type { Chat } from '../../service.ts'
import type { HeaderPair } from '../response/headers.ts'

/** Pages of any origin may read what has these: it has no secret, and no cookie has an effect. */
export const PUBLIC: HeaderPair[] = [
  ['access-control-allow-origin', '*'],
  ['cross-origin-resource-policy', 'cross-origin'],
]

/** A response to a preflight of a page of any origin. */
export const preflight = (methods: string) => ({
  status: 204,
  headers: [
    ...PUBLIC,
    ['access-control-allow-methods', methods],
    // Clients of MCP send its version with each request.
    ['access-control-allow-headers', 'Content-Type, MCP-Protocol-Version'],
    ['access-control-max-age', '7200'],
    ['allow', `OPTIONS, ${methods}`],
  ] as HeaderPair[],
  body: null,
})

/** A document for clients that have no token yet. */
export function metadataReply(method: string, document: object) {
  if (method === 'OPTIONS') return preflight('GET, HEAD')
  if (method !== 'GET' && method !== 'HEAD')
    return { status: 405, headers: [['allow', 'GET, HEAD, OPTIONS']] as HeaderPair[], body: null }
  const own: HeaderPair[] = [
    ['content-type', 'application/json'],
    ['cache-control', 'public, max-age=300'],
  ]
  return { status: 200, headers: [...PUBLIC, ...own], body: JSON.stringify(document) }
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
    const { status, headers, body } = metadataReply(method, document)
    return new Response(method === 'HEAD' ? null : body, { status, headers })
  }
}
