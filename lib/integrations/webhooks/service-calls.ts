import { requireConfirmation } from '../../accounts/sessions/service-confirmation.ts'
import type { Context } from '../../context.ts'
import type { Actor } from '../../core/actor.ts'
import { ChatError } from '../../core/errors.ts'
import { newToken } from '../../core/ids.ts'
import { toInstant } from '../../core/time.ts'
import { useCase } from '../../core/use-case.ts'
import { spendWebhookCall } from '../../limits/spending.ts'
import { findServiceId } from '../../storage/secret.ts'
import { assertMadeBy, assertMayMake, holderOf } from './access.ts'
import { audit } from './auditing.ts'
import { isEcho, UNVERIFIED } from './rules.ts'
import type { CallOutcome, RotatedSecret } from './schema.ts'
import { openWebhook, replaceSecret } from './secrets.ts'
import { type Attempted, send } from './sending.ts'
import { disableWebhook, findWebhook, lockWebhook, setVerified, updateWebhook, type WebhookRow } from './store.ts'

/** How long a call that a user has asked for may take. */
const CALL_TIMEOUT_MS = 5_000

/**
 * Calls the URL with a challenge, which it must return: then events are sent. An active webhook is called again, and stays
 * active whatever it returns.
 *
 * @throws ChatError `not_found`; `forbidden` without the right `keys`, and with an API key that has not made it; `conflict` for
 *   a disabled one, and for one whose secret is lost; `rate_limited`
 */
export const verify = useCase({
  takes: ['actor', 'webhook_id'],
  errors: ['not_found', 'forbidden', 'conflict'],
  run: async (ctx, actor, id): Promise<CallOutcome> => {
    assertMayMake(ctx, actor)
    const row = await findCalled(ctx, actor, id)
    if (row.status === 'disabled') throw new ChatError('conflict', { message: 'The webhook is disabled.' })
    const challenge = newToken()
    const { body = '', ...outcome } = await call(ctx, actor, row, 'webhook.challenge', { challenge })
    if (outcome.error !== undefined) return outcome
    if (!isEcho(body, challenge)) return { ...outcome, error: 'challenge' }
    await ctx.write(async (tx) => {
      // It may have got another URL since.
      if (await setVerified(tx, { id, url: row.url })) audit(tx, actor, 'webhook.verified', row)
    })
    return outcome
  },
})

/**
 * Calls the URL with an event of the type `webhook.test`.
 *
 * @throws ChatError as {@link verify}; `conflict` also for one that is not verified
 */
export const test = useCase({
  takes: ['actor', 'webhook_id'],
  errors: ['not_found', 'forbidden', 'conflict'],
  run: async (ctx, actor, id): Promise<CallOutcome> => {
    assertMayMake(ctx, actor)
    const row = await findCalled(ctx, actor, id)
    if (row.status !== 'active')
      throw new ChatError('conflict', {
        message: row.status === 'unverified' ? UNVERIFIED : 'The webhook is disabled.',
      })
    const { body: _, ...outcome } = await call(ctx, actor, row, 'webhook.test', {})
    return outcome
  },
})

/**
 * Makes a new secret, which is returned only here. The former one signs beside it for a day.
 *
 * @throws ChatError `not_found`; `forbidden` without the right `keys`, and with an API key that has not made it;
 *   `confirmation_required`
 */
export const rotate = useCase({
  takes: ['actor', 'webhook_id'],
  errors: ['not_found', 'forbidden', 'confirmation_required'],
  run: async (ctx, actor, id): Promise<RotatedSecret> => {
    assertMayMake(ctx, actor)
    // The key of the service may have to be read first, which is no part of a transaction.
    const { secret, columns } = await replaceSecret(ctx, await findOwn(ctx, actor, id))
    return ctx.write(async (tx) => {
      await requireConfirmation(ctx, tx, actor)
      const row = await lockWebhook(tx, id, holderOf(actor))
      if (!row) throw new ChatError('not_found')
      // Another call may have replaced it meanwhile, in the other way even: the last one counts.
      await updateWebhook(tx, { ...row, ...columns, previous_secret: row.secret })
      audit(tx, actor, 'webhook.rotated', row)
      return columns.public_key === null ? { secret } : { public_key: columns.public_key }
    })
  },
})

/** A webhook of the actor that is called now. @throws ChatError `not_found`, `forbidden`, `rate_limited` */
async function findCalled(ctx: Context, actor: Actor, id: string): Promise<WebhookRow> {
  const row = await findOwn(ctx, actor, id)
  await spendWebhookCall(ctx, row.user_id ?? '')
  return row
}

async function findOwn({ db }: Pick<Context, 'db'>, actor: Actor, id: string): Promise<WebhookRow> {
  const row = await findWebhook(db, id, holderOf(actor))
  if (!row) throw new ChatError('not_found')
  assertMadeBy(actor, row)
  return row
}

/** @throws ChatError `conflict` when the secret is lost: the webhook is disabled then */
async function call(
  ctx: Context,
  actor: Actor,
  row: WebhookRow,
  type: 'webhook.challenge' | 'webhook.test',
  data: Record<string, string>,
): Promise<Omit<Attempted, 'retry_after'>> {
  const opened = await openWebhook(ctx, row, ctx.now())
  if (!opened) {
    const reason = 'secret_lost'
    await ctx.write(async (tx) => {
      if (await disableWebhook(tx, row.id, { reason, at: ctx.now() }))
        audit(tx, actor, 'webhook.changed', row, { changed: ['status'], reason })
    })
    throw new ChatError('conflict', { message: 'The secret of the webhook is lost: rotate it.' })
  }
  const id = `evt_${ctx.id().replaceAll('-', '')}`
  const body = JSON.stringify({ id, type, timestamp: toInstant(ctx.now()), data })
  const { retry_after: _, ...attempted } = await send(
    ctx,
    { ...opened, id: row.id, url: row.url },
    { id, body, origin: await findServiceId(ctx.db), timeout_ms: CALL_TIMEOUT_MS, reads_body: true },
  )
  return attempted
}
