import { assertAdmin, refuseKeys } from '../../core/actor.ts'
import { ChatError, turnedOff } from '../../core/errors.ts'
import { fit } from '../../core/pages.ts'
import { useCase } from '../../core/use-case.ts'
import { audit } from './auditing.ts'
import { assertOpens } from './checks.ts'
import { moveToPresent, presentStart } from './place.ts'
import { beginsNow, planSwitch } from './rules.ts'
import { AllWebhooksQuery, type SwitchedWebhook, WebhookSwitch, type WebhooksOfUsers } from './schema.ts'
import { toWebhookOfUser } from './showing.ts'
import { clearFailures, findWebhook, listAllWebhooks, lockWebhook, updateWebhook } from './store.ts'

/**
 * The webhooks of all users, newest first, those of the operator included.
 *
 * @throws ChatError `not_found` unless webhooks are enabled; `forbidden`, also with an API key
 */
export const listAll = useCase({
  takes: ['actor'],
  input: AllWebhooksQuery,
  errors: ['not_found'],
  run: async (ctx, actor, { limit, ...filter }): Promise<WebhooksOfUsers> => {
    assertAdmin(actor)
    refuseKeys(actor)
    if (!ctx.config.webhooks.enabled) throw turnedOff('webhooks.enabled')
    const rows = await listAllWebhooks(ctx.db, filter, limit + 1)
    const webhooks = fit(rows.slice(0, limit).map(toWebhookOfUser))
    return { webhooks, ...(rows.length > webhooks.length && { next_after: webhooks.at(-1)!.id }) }
  },
})

/**
 * Disables any webhook, which only an administrator enables then, or enables it.
 *
 * @throws ChatError `not_found`; `forbidden`, also with an API key; `conflict` for one that is not verified, and for one whose
 *   secret is lost
 */
export const changeAny = useCase({
  takes: ['actor', 'webhook_id'],
  input: WebhookSwitch,
  errors: ['not_found', 'conflict'],
  run: async (ctx, actor, id, { enabled }): Promise<SwitchedWebhook> => {
    assertAdmin(actor)
    refuseKeys(actor)
    if (!ctx.config.webhooks.enabled) throw turnedOff('webhooks.enabled')
    const known = await findWebhook(ctx.db, id, { all: true })
    if (!known) throw new ChatError('not_found')
    if (enabled) await assertOpens(ctx, known)
    const present = await presentStart(ctx)
    return ctx.write(async (tx) => {
      await ctx.accounts.assertStillAdmin(tx, actor)
      const before = await lockWebhook(tx, id, { all: true })
      if (!before) throw new ChatError('not_found')
      const after = planSwitch(before, enabled, { isAdmin: true, reason: 'admin', now: ctx.now() })
      if (after === before) return { webhook: toWebhookOfUser(before) }
      await updateWebhook(tx, after)
      if (enabled && beginsNow(before)) await moveToPresent(tx, before, present)
      if (enabled) await clearFailures(tx, id)
      audit(tx, actor, 'webhook.changed', after, { changed: ['status'] })
      return { webhook: toWebhookOfUser(after) }
    })
  },
})
