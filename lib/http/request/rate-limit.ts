import { contextOf } from '../../core/context-of.ts'
import { ChatError } from '../../core/errors.ts'
import { type AnyRoute, isLimited } from '../../endpoint.ts'
import { routes } from '../../endpoints.ts'
import type { LimitedCall, LimitResult } from '../../limits/limiter.ts'
import type { Endpoint } from '../../limits/rules.ts'
import type { Chat } from '../../service.ts'
import type { HeaderPair } from '../response/headers.ts'

/** Where agents call. It is no route: its protocol has its own responses. */
export const MCP_ENDPOINT: Endpoint = { method: 'POST', path: '/mcp' }

/** Every route that can be limited. */
export const limitedEndpoints: readonly Endpoint[] = [
  ...Object.values<AnyRoute>(routes).filter(isLimited),
  MCP_ENDPOINT,
]

/** Counts a call against the limits of its route. @returns the result, if a limit applies */
export function takeFromLimits(
  chat: Chat,
  route: AnyRoute,
  caller: Pick<LimitedCall, 'user_id' | 'ip' | 'limits_version'>,
): Promise<LimitResult | undefined> | undefined {
  if (!isLimited(route)) return undefined
  const { method, path } = route
  // For a signed-in user, accepting an invite is an ordinary call; every other sign-in route is counted.
  const is_sign_in = route.limited_as === 'sign_in' && (caller.user_id === undefined || route.sign_in === true)
  // Named, not spread: V8 gives each spread object its own shape, which slows every later access.
  const { user_id, ip, limits_version } = caller
  return contextOf(chat).limiter.take({ method, path, user_id, ip, is_sign_in, limits_version })
}

/** @throws ChatError `rate_limited` */
export function assertAllowed(result: LimitResult | undefined): void {
  if (!result) return
  const { allowed, retry_after_seconds } = result
  if (!allowed) throw new ChatError('rate_limited', retry_after_seconds === undefined ? {} : { retry_after_seconds })
}

/** The headers with the state of the limit. */
export function limitHeaders({ limit, remaining, reset_seconds, profile }: LimitResult): HeaderPair[] {
  return [
    ['ratelimit-limit', String(limit)],
    ['ratelimit-remaining', String(remaining)],
    ['ratelimit-reset', String(reset_seconds)],
    ['x-ratelimit-profile', profile],
  ]
}
