import type { Context } from '../../context.ts'
import type { Actor, McpScope } from '../../core/actor.ts'
import { grantCode } from '../grants/codes.ts'
import type { OAuthClient } from '../oauth-clients/rules.ts'
import { markClientUsed } from '../oauth-clients/store.ts'
import { requireConfirmation } from '../sessions/service-confirmation.ts'
import type { AuthorizationRequest } from './rules.ts'

/**
 * Allows a client what a user has chosen on the page.
 *
 * @returns the code for the client
 * @throws ChatError `confirmation_required` for a session whose sign-in is long ago; `unauthenticated` for one that has just ended
 */
export function allow(
  ctx: Context,
  actor: Actor,
  { client, request, scopes }: { client: OAuthClient; request: AuthorizationRequest; scopes: McpScope[] },
): Promise<string> {
  return ctx.write(async (tx) => {
    await requireConfirmation(ctx, tx, actor)
    await markClientUsed(tx, client.client_id, ctx.now())
    return grantCode(ctx, tx, actor, {
      client_id: client.client_id,
      client_name: client.name,
      client_host: client.host,
      redirect_uri: request.redirect_uri,
      scopes,
      code_challenge: request.code_challenge!,
    })
  })
}
