import { mcpUrlOf } from '../../config/base-path.ts'
import type { Context } from '../../context.ts'
import type { Actor } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { SECOND } from '../../core/units.ts'
import { recordUse } from '../sessions/record-use.ts'
import { toActor } from '../users/rules.ts'
import { toScopes } from './rules.ts'
import { findAccess, touchAccess } from './store.ts'

/** The minimum time between two stored uses of a token. */
const TOUCH_SECONDS = 60

/**
 * The actor of an access token, which may do on `/mcp` what the user has allowed.
 *
 * @throws ChatError `unauthenticated`, `session_expired`
 */
export async function recogniseAccess(ctx: Context, tokenHash: string): Promise<Actor> {
  if (!ctx.config.mcp.oauth.enabled) throw new ChatError('unauthenticated')
  const token = await findAccess(ctx.db, tokenHash)
  const now = ctx.now()
  // One for another address of the service is none here.
  if (!token || token.disabled_at !== null || token.audience !== mcpUrlOf(ctx.config))
    throw new ChatError('unauthenticated')
  if (token.expires_at < now) throw new ChatError('session_expired')
  if (token.last_used_at === null || now - token.last_used_at >= TOUCH_SECONDS * SECOND)
    await recordUse(ctx, 'key', (tx) => touchAccess(tx, token, now))
  return { ...toActor({ ...token, id: token.user_id }), key_id: token.id, mcp_scopes: toScopes(token.scopes) }
}
