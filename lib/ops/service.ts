import type { Context } from '../context.ts'
import { ChatError } from '../core/errors.ts'
import { bearerOf } from '../core/headers.ts'
import { digest, sameDigest } from '../core/ids.ts'
import { useCase } from '../core/use-case.ts'
import { countDueTasks } from '../tasks/store.ts'
import { OBSTACLES } from './readiness.ts'
import type { Health, Readiness } from './schema.ts'

/** Says that the process turns; it looks at nothing. */
export const health = useCase({
  takes: [],
  run: (_ctx): Health => {
    return { status: 'ok' }
  },
})

/**
 * Whether the service can do its work, answered within a second whatever is the matter.
 *
 * @throws ChatError `unavailable`, with what fails in `errors`
 */
export const readiness = useCase({
  takes: [],
  errors: ['unavailable'],
  run: async (ctx): Promise<Readiness> => {
    const failing = await ctx.readiness.obstacles()
    if (failing.length > 0) {
      throw new ChatError('unavailable', {
        message: `Not ready: ${failing.join(', ')}.`,
        errors: failing.map((path) => ({ path, message: OBSTACLES[path] })),
        retry_after_seconds: 1,
      })
    }
    return { status: 'ready', checks: { database: 'ok', migrations: 'ok', bus: 'ok' } }
  },
})

/**
 * The counters, in Prometheus' text format.
 *
 * @param authorization must be a bearer token, that of `metrics.token`, where one is configured
 * @throws ChatError `unauthenticated`
 */
export async function metrics(ctx: Context, authorization: string | null): Promise<string> {
  const { token } = ctx.config.metrics
  if (token && !sameDigest(digest(bearerOf(authorization) ?? ''), digest(token))) throw new ChatError('unauthenticated')
  return ctx.metrics.render({
    streams: ctx.hub.size(),
    answers: ctx.answers.size(),
    // The page has everything else to say while the storage is in trouble.
    tasks: await countDueTasks(ctx.db).catch(() => []),
    log_lines_dropped: ctx.log.dropped?.() ?? 0,
  })
}
