import type { H3Event } from 'h3'
import { asksHost, bearerIn, type CountedCaller, recogniseBy } from '../../accounts/authentication/service.ts'
import { recogniseAccess } from '../../accounts/grants/recognise.ts'
import { ACCESS_PREFIX } from '../../accounts/grants/rules.ts'
import { identify } from '../../accounts/host-identity/service.ts'
import { mcpUrlOf } from '../../config/base-path.ts'
import type { Context } from '../../context.ts'
import { ChatError } from '../../core/errors.ts'
import type { AuthAttempt } from '../../limits/auth-failures.ts'
import { givenOf } from '../handle.ts'

/** A caller of MCP. */
export type McpCaller = Pick<CountedCaller, 'actor' | 'limits_version' | 'set_cookie'>

/**
 * The caller of a request: by its bearer, or by the login of the host. No session of a browser counts: a page could use it.
 *
 * Only a token that is none counts as a failed authentication. Users of a hosted client share few addresses, and each of them
 * begins without a token, or with one that has expired.
 *
 * @throws ChatError `unauthenticated`, `session_expired`, `rate_limited`; `forbidden` for a server key that acts for no account
 */
export async function recogniseMcp(ctx: Context, event: H3Event, ip: string | undefined): Promise<McpCaller> {
  const { headers } = event.req
  const tokens = bearerIn(headers)
  const { authFailures } = ctx.accounts
  if (asksHost(ctx, tokens)) {
    const audience = mcpUrlOf(ctx.config)
    return withAddress(
      await identify(ctx, { ...givenOf(event), headers, audience, ...(ip !== undefined && { ip }) }),
      ip,
    )
  }
  if (tokens.api_key === undefined) throw new ChatError('unauthenticated')
  // It cannot be guessed, and one that has ended is the usual case: neither counts.
  if (tokens.api_key.startsWith(ACCESS_PREFIX))
    return withAddress({ actor: await recogniseAccess(ctx, tokens.token_hash!) }, ip)
  const attempt: AuthAttempt = { ip, credential: tokens.token_hash }
  authFailures.check(attempt)
  try {
    const caller = await recogniseBy(ctx, { headers, ip }, tokens)
    authFailures.remember(attempt)
    if (caller.grants) throw new ChatError('forbidden', { reason: 'key' })
    return withAddress(caller, ip)
  } catch (error) {
    const isOver = error instanceof ChatError && error.status === 401
    if (isOver) authFailures.forget(attempt)
    if (isOver && error.code === 'unauthenticated') authFailures.failed(attempt)
    throw error
  }
}

/** The address is part of what audit entries and limits have of a call. */
function withAddress(caller: McpCaller, ip: string | undefined): McpCaller {
  if (ip !== undefined) caller.actor.ip = ip
  return caller
}
