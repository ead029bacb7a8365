import type { H3Event } from 'h3'
import { type Caller, recogniseBy, tokensIn } from '../../accounts/authentication/service.ts'
import { identify } from '../../accounts/host-identity/service.ts'
import { findUser, type UserRow } from '../../accounts/users/store.ts'
import type { Context } from '../../context.ts'
import { type Actor, isGuest } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { readCookies } from '../../core/headers.ts'
import { givenOf } from '../handle.ts'
import { assertAllowed } from '../request/rate-limit.ts'

/** The path of the page on which users allow applications to use the chat as them. */
export const CONSENT_PATH = '/oauth/authorize'

/** The user whose browser shows the page. */
export interface Visitor {
  actor: Actor
  user: UserRow
  /** The cookies that the login of the host sets. */
  set_cookie: readonly string[]
}

/**
 * Who visits the page: by the session cookie, or as the login of the host says. A guest has no account, and counts as not signed in.
 * The call counts against the limits, as every other one.
 *
 * @throws ChatError `rate_limited`
 */
export async function findVisitor(ctx: Context, event: H3Event, ip: string | undefined): Promise<Visitor | undefined> {
  const visitor = await recogniseVisitor(ctx, event, ip)
  const method = event.req.method === 'POST' ? 'POST' : 'GET'
  const user_id = visitor?.actor.user_id
  assertAllowed(await ctx.limiter.take({ method, path: CONSENT_PATH, user_id, ip, is_sign_in: false }))
  return visitor
}

async function recogniseVisitor(ctx: Context, event: H3Event, ip: string | undefined): Promise<Visitor | undefined> {
  try {
    const { actor, set_cookie = [] } = await (ctx.host.identity ? askHost(ctx, event, ip) : resume(ctx, event, ip))
    const user = isGuest(actor) ? undefined : await findUser(ctx.db, actor.user_id)
    if (ip !== undefined) actor.ip = ip
    return user && { actor, user, set_cookie }
  } catch (error) {
    if (error instanceof ChatError && error.status === 401) return undefined
    throw error
  }
}

function askHost(ctx: Context, event: H3Event, ip: string | undefined): Promise<Caller> {
  return identify(ctx, { ...givenOf(event), headers: event.req.headers, ...(ip !== undefined && { ip }) })
}

/** The caller of the session cookie alone: a key or a token is no browser's. */
async function resume(ctx: Context, { req: { headers } }: H3Event, ip: string | undefined): Promise<Caller> {
  const { authFailures } = ctx.accounts
  const tokens = tokensIn(ctx, new Headers(), readCookies(headers.get('cookie')))
  if (tokens.token_hash === undefined) throw new ChatError('unauthenticated')
  const attempt = { ip, credential: tokens.token_hash }
  authFailures.check(attempt)
  try {
    const caller = await recogniseBy(ctx, { headers, ip }, tokens)
    authFailures.remember(attempt)
    return caller
  } catch (error) {
    if (error instanceof ChatError && error.status === 401) {
      authFailures.forget(attempt)
      authFailures.failed(attempt)
    }
    throw error
  }
}
