import type { Context } from '../context.ts'
import { ChatError } from '../core/errors.ts'
import { parseBearer } from '../core/headers.ts'
import { digest, sameDigest } from '../core/ids.ts'
import { useCase } from '../core/use-case.ts'
import { readLevels } from './levels.ts'
import { FAILURES } from './readiness.ts'
import type { Health, Readiness } from './schema.ts'

/** Confirms that the process runs; it checks nothing. */
export const health = useCase({
  takes: [],
  anytime: true,
  run: (_ctx): Health => {
    return { status: 'ok' }
  },
})

/**
 * Whether the service can work, returned within a second in any case.
 *
 * @throws ChatError `unavailable`, with the failed checks in `errors`
 */
export const readiness = useCase({
  takes: [],
  anytime: true,
  errors: ['unavailable'],
  run: async (ctx): Promise<Readiness> => {
    const failing = await ctx.ops.readiness.failures()
    if (failing.length > 0) {
      throw new ChatError('unavailable', {
        message: `Not ready: ${failing.join(', ')}.`,
        errors: failing.map((path) => ({ path, message: FAILURES[path] })),
        retry_after_seconds: 1,
      })
    }
    const attachments = ctx.files.place.isMissing() ? 'missing' : 'ok'
    return {
      status: 'ready',
      checks: {
        database: 'ok',
        migrations: 'ok',
        bus: 'ok',
        clock: 'ok',
        ...(ctx.config.attachments.enabled && { attachments }),
      },
    }
  },
})

/**
 * The metrics in the text format of Prometheus.
 *
 * @param authorization must be `metrics.token` or one of `metrics.previous_tokens` as a bearer token, if one is configured
 * @throws ChatError `unauthenticated`
 */
export async function metrics(ctx: Context, authorization: string | null): Promise<string> {
  const { token, previous_tokens } = ctx.config.metrics
  if (token) {
    const given = digest(parseBearer(authorization) ?? '')
    if (![token, ...previous_tokens].some((candidate) => sameDigest(given, digest(candidate))))
      throw new ChatError('unauthenticated')
  }
  return ctx.metrics.render(() => readLevels(ctx))
}
