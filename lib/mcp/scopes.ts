import type { Actor, McpScope } from '../core/actor.ts'

/** The scopes that each scope includes, itself among them. */
const INCLUDED: Record<McpScope, readonly McpScope[]> = {
  'chat:read': ['chat:read'],
  'chat:write': ['chat:read', 'chat:write'],
  'chat:ask': ['chat:read', 'chat:ask'],
}

/**
 * What an actor may do here by the means of its call. A token of the service with the scope `read` reads, one with `write` has
 * all, as keys and logins have, and one of streams has none.
 */
export function scopesOf({ mcp_scopes, scopes }: Pick<Actor, 'mcp_scopes' | 'scopes'>): ReadonlySet<McpScope> {
  if (mcp_scopes) return new Set(mcp_scopes.flatMap((scope) => INCLUDED[scope]))
  if (!scopes || scopes.includes('write')) return new Set(['chat:read', 'chat:write', 'chat:ask'])
  return new Set(scopes.includes('read') ? ['chat:read'] : [])
}
