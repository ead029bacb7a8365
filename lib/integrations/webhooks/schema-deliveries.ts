import * as v from 'valibot'
import { MAX_LENGTH } from '../../core/lengths.ts'
import { Id, Instant, Limit, opaque } from '../../core/schema.ts'

/** What became of an event: `dead` is one that was given up. */
export const DeliveryStatus = v.picklist(['pending', 'delivered', 'dead'])
export type DeliveryStatus = v.InferOutput<typeof DeliveryStatus>

/** A call of the URL with an event. */
export const DeliveryAttempt = v.object({
  at: v.pipe(Instant, v.description('When it began')),
  ms: v.pipe(v.number(), v.minValue(0)),
  status: v.optional(v.pipe(v.number(), v.integer(), v.description('Of the answer, if there was one'))),
  error: v.optional(
    v.pipe(
      v.string(),
      v.description(
        'Why it failed: `address_forbidden`, `dns`, `connect`, `tls`, `timeout`, `status`, `protocol`; missing after a success',
      ),
    ),
  ),
})
export type DeliveryAttempt = v.InferOutput<typeof DeliveryAttempt>

/** An event that was sent to a webhook, or waits to be sent again; without the event itself. */
export const WebhookDelivery = v.object({
  id: Id,
  event_id: v.pipe(v.string(), v.description('As in `webhook-id`')),
  type: v.string(),
  at: v.pipe(Instant, v.description('When the event happened')),
  status: DeliveryStatus,
  attempts: v.pipe(v.array(DeliveryAttempt), v.description('The last ones, the oldest first')),
  next_at: v.optional(v.pipe(Instant, v.description('When it is sent again'))),
})
export type WebhookDelivery = v.InferOutput<typeof WebhookDelivery>

export const WebhookDeliveriesQuery = v.object({
  status: v.optional(v.pipe(DeliveryStatus, v.description('Only those that are so'))),
  after: v.optional(v.pipe(Id, v.description('`next_after` of the previous page'))),
  limit: Limit(50, 200),
})
export type WebhookDeliveriesQuery = v.InferOutput<typeof WebhookDeliveriesQuery>

/** A page of deliveries, newest first. */
export const WebhookDeliveries = v.object({ deliveries: v.array(WebhookDelivery), next_after: v.optional(Id) })
export type WebhookDeliveries = v.InferOutput<typeof WebhookDeliveries>

/** An event that is sent again. */
export const ReplayedDelivery = v.object({ delivery: WebhookDelivery })
export type ReplayedDelivery = v.InferOutput<typeof ReplayedDelivery>

/** From where events are sent again. */
export const WebhookReplay = v.object({
  since: v.pipe(
    opaque(MAX_LENGTH.position),
    v.description('An instant or a position of the last 14 days; what came after it is sent again'),
  ),
})
export type WebhookReplay = v.InferOutput<typeof WebhookReplay>

/** A webhook that was moved back. */
export const ReplayedWebhook = v.object({
  position: v.pipe(v.string(), v.description('What came after it is sent')),
})
export type ReplayedWebhook = v.InferOutput<typeof ReplayedWebhook>
