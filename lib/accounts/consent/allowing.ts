import type { Context } from '../../context.ts'
import type { Actor, McpScope } from '../../core/actor.ts'
import { spendAct } from '../../limits/spending.ts'
import { grantCode } from '../grants/codes.ts'
import { hostOf, type OAuthClient } from '../oauth-clients/rules.ts'
import { touchClient } from '../oauth-clients/store.ts'
import { requireConfirmation } from '../sessions/service-confirmation.ts'
import type { AuthorizationRequest } from './rules.ts'

/**
 * Allows a client what a user has chosen on the page.
 *
 * @returns the code for the client
 * @throws ChatError `rate_limited`; `confirmation_required` for a session whose sign-in is long ago; `unauthenticated` for one that has just ended
 */
export async function allow(
  ctx: Context,
  actor: Actor,
  { client, request, scopes }: { client: OAuthClient; request: AuthorizationRequest; scopes: McpScope[] },
): Promise<string> {
  await spendAct(ctx, actor.user_id, 'grant.created')
  return ctx.write(async (tx) => {
    await requireConfirmation(ctx, tx, actor)
    await touchClient(tx, client.client_id, { at: ctx.now(), pause: 0 })
    return grantCode(ctx, tx, actor, {
      client_id: client.client_id,
      client_name: client.name,
      client_host: hostOf(client, request.redirect_uri),
      redirect_uri: request.redirect_uri,
      scopes,
      code_challenge: request.code_challenge!,
    })
  })
}
