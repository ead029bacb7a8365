import type { Actor, Context, IdentityRequest } from '../context.ts'
import { identify } from '../identities/service.ts'
import { bearerOf } from '../keys/rules.ts'
import { recognise as recogniseKey } from '../keys/service.ts'
import { readCookie } from './cookies.ts'
import { resume } from './service.ts'

/** Who calls; with a session, also the digest that its CSRF token must have. */
export interface Caller {
  actor: Actor
  csrf_hash?: string
}

/**
 * Who a request is from: as the host's login says, if it has one; else by `Authorization: Bearer`, if there is one; else
 * by the session cookie. Where one of them speaks, the next is not asked.
 *
 * @throws ChatError `unauthenticated`, `session_expired`
 */
export async function recognise(ctx: Context, request: IdentityRequest): Promise<Caller> {
  if (ctx.identity) return { actor: await identify(ctx, request) }
  const key = bearerOf(request.headers.get('authorization'))
  if (key !== undefined) return { actor: await recogniseKey(ctx, key) }
  return resume(ctx, readCookie(request.headers.get('cookie'), ctx.config.session.session_cookie_name))
}

/**
 * The caller of a request, for hosts that call the use-cases themselves. A host that accepts state-changing requests
 * with a session cookie this way checks for cross-site requests itself.
 *
 * @throws ChatError `unauthenticated`, `session_expired`
 */
export async function authenticate(ctx: Context, headers: Headers): Promise<Actor> {
  return (await recognise(ctx, { headers })).actor
}
