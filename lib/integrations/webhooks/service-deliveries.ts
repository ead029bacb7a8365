import { ChatError } from '../../core/errors.ts'
import { fit } from '../../core/pages.ts'
import { DAY } from '../../core/units.ts'
import { useCase } from '../../core/use-case.ts'
import { listHistories, toEventName } from '../../storage/histories.ts'
import { assertMadeBy, assertMayMake, assertOffered, holderOf } from './access.ts'
import { audit } from './auditing.ts'
import { assertKept, earlierOf, moveTo, startSince } from './place.ts'
import { toReplayed } from './rules-schedule.ts'
import {
  type ReplayedDelivery,
  type ReplayedWebhook,
  type WebhookDeliveries,
  WebhookDeliveriesQuery,
  WebhookReplay,
} from './schema-deliveries.ts'
import { toDeliveryOfOwner } from './showing.ts'
import { findWebhook, lockWebhook, releaseLease } from './store.ts'
import * as store from './store-deliveries.ts'

/** How long after it happened an event is sent again because its owner asks for it. */
const REPLAYED_AGE = 14 * DAY

/**
 * What became of the events of a webhook, newest first: those that wait, 1,000 delivered ones of seven days, and 10,000 that
 * were given up, of thirty.
 *
 * @throws ChatError `not_found`; `forbidden`
 */
export const listDeliveries = useCase({
  takes: ['actor', 'webhook_id'],
  input: WebhookDeliveriesQuery,
  errors: ['not_found'],
  run: async (ctx, actor, id, { limit, ...filter }): Promise<WebhookDeliveries> => {
    assertOffered(ctx, actor)
    if (!(await findWebhook(ctx.db, id, holderOf(actor)))) throw new ChatError('not_found')
    const rows = await store.listDeliveries(ctx.db, id, { ...filter, limit: limit + 1 })
    const deliveries = fit(rows.slice(0, limit).map(toDeliveryOfOwner))
    return { deliveries, ...(rows.length > deliveries.length && { next_after: deliveries.at(-1)!.id }) }
  },
})

/**
 * Sends an event again that was delivered or given up, with as many attempts as a new one.
 *
 * @throws ChatError `not_found`, also for an event that the log has no more, or of over 14 days ago; `forbidden` without the
 *   right `keys`, and with an API key that has not made the webhook; `conflict` for one that waits to be sent anyway
 */
export const replayDelivery = useCase({
  takes: ['actor', 'webhook_id', 'delivery_id'],
  errors: ['not_found', 'forbidden', 'conflict'],
  run: async (ctx, actor, id, deliveryId): Promise<ReplayedDelivery> => {
    assertMayMake(ctx, actor)
    return ctx.write(async (tx) => {
      const row = await lockWebhook(tx, id, holderOf(actor))
      const delivery = row && (await store.findDelivery(tx, id, deliveryId))
      if (!row || !delivery) throw new ChatError('not_found')
      assertMadeBy(actor, row)
      if (delivery.status === 'pending')
        throw new ChatError('conflict', { message: 'The event waits to be sent already.' })
      const isOld = delivery.at < ctx.now() - REPLAYED_AGE
      const name = toEventName(await listHistories(tx), delivery.event_number)
      const isStored = name === delivery.event_id && (await store.isInLog(tx, delivery.event_number))
      if (isOld || !isStored)
        throw new ChatError('not_found', { message: 'The event is too old: the log has it no more.' })
      const { attempts, ...state } = toReplayed(store.toState(delivery), ctx.now())
      const replayed = { ...delivery, ...state, attempts: JSON.stringify(attempts) }
      await store.storeDelivery(tx, replayed)
      await releaseLease(tx, id)
      audit(tx, actor, 'webhook.replayed', row, { event_id: delivery.event_id })
      return { delivery: toDeliveryOfOwner(replayed) }
    })
  },
})

/**
 * Moves a webhook back: what came after an instant or a position is sent again, as it is now. One that is there or before it
 * already stays where it is.
 *
 * @throws ChatError `not_found`, also for what the log has no more, or of over 14 days ago; `forbidden` without the right `keys`,
 *   and with an API key that has not made the webhook; `validation_failed` for a future instant and any other text
 */
export const replay = useCase({
  takes: ['actor', 'webhook_id'],
  input: WebhookReplay,
  errors: ['not_found', 'forbidden', 'validation_failed'],
  run: async (ctx, actor, id, { since }): Promise<ReplayedWebhook> => {
    assertMayMake(ctx, actor)
    const known = await findWebhook(ctx.db, id, holderOf(actor))
    if (!known) throw new ChatError('not_found')
    assertMadeBy(actor, known)
    const { position } = await startSince(ctx, since)
    await assertKept(ctx, { since, position }, ctx.now() - REPLAYED_AGE)
    return ctx.write(async (tx) => {
      const row = await lockWebhook(tx, id, holderOf(actor))
      if (!row) throw new ChatError('not_found')
      const start = earlierOf(ctx, position, row.position)
      await moveTo(ctx, tx, row, { position: start, gap: null })
      audit(tx, actor, 'webhook.replayed', row, { since })
      return { position: start }
    })
  },
})
