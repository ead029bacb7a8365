import type { Context, Endpoint } from '../context.ts'
import type { Actor } from '../core/actor.ts'
import { ChatError } from '../core/errors.ts'

/** Counts a call against the limit of the route of the same use-case. @throws ChatError `rate_limited` */
export async function takeFromLimit(
  { limiter }: Pick<Context, 'limiter'>,
  { user_id, ip }: Pick<Actor, 'user_id' | 'ip'>,
  route: Endpoint,
): Promise<void> {
  const { allowed = true, retry_after_seconds } =
    (await limiter.take({ ...route, user_id, ip, is_sign_in: false })) ?? {}
  if (!allowed) throw new ChatError('rate_limited', { retry_after_seconds })
}
