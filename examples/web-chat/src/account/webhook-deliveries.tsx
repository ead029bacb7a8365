import type { WebhookDelivery } from 'chat-server/client'
import { useState } from 'preact/hooks'
import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { Field, fieldsOf } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { PagesEnd, usePages } from '../parts/pages.tsx'
import { Select } from '../parts/select.tsx'
import { showToast } from '../parts/toast.tsx'
import { webhooksTexts } from '../texts/integrations.ts'
import { longTime, shortTime } from '../texts/time.ts'
import { outcomeText } from './webhook-words.ts'

const STATUSES = ['all', 'pending', 'delivered', 'dead'] as const

interface WebhookDeliveriesProps {
  webhook_id: string
  onChanged: () => void
}

/** What became of the events of a webhook; each can be sent again, and all of them from an instant on. */
export function WebhookDeliveries({ webhook_id, onChanged }: WebhookDeliveriesProps) {
  const { client } = useApp()
  const words = webhooksTexts.value
  const [status, setStatus] = useState<(typeof STATUSES)[number]>('all')
  const pages = usePages(
    async (after, signal) => {
      const query = { ...(status !== 'all' && { status }), ...(after && { after }) }
      const { deliveries, next_after } = await client.webhooks.listDeliveries(webhook_id, query, { signal })
      return { items: deliveries, next_after }
    },
    [status],
  )
  const refresh = () => {
    pages.reload()
    onChanged()
  }
  const replay = useAction(async (delivery_id: string) => {
    await client.webhooks.replayDelivery(webhook_id, delivery_id)
    showToast(words.replayed)
    refresh()
  })
  const replaySince = useAction(async (form: HTMLFormElement) => {
    const { since = '' } = fieldsOf(form)
    await client.webhooks.replay(webhook_id, { since: new Date(since).toISOString() })
    showToast(words.replayed_since)
    form.reset()
    refresh()
  })
  return (
    <section>
      <h3>{words.deliveries}</h3>
      <div class="one-line">
        <Select
          label={words.filter}
          value={status}
          options={STATUSES.map((each) => [each, words.delivery_filters[each]])}
          onChange={setStatus}
        />
        <button type="button" onClick={refresh}>
          {words.refresh}
        </button>
      </div>
      <ErrorNote error={replay.error} />
      <ul class="items">
        {pages.items?.map((delivery) => (
          <DeliveryItem
            key={delivery.id}
            delivery={delivery}
            isBusy={replay.isRunning}
            onReplay={() => void replay.run(delivery.id)}
          />
        ))}
      </ul>
      <PagesEnd pages={pages} none={words.no_deliveries} />
      <Form action={replaySince} button={words.replay_since}>
        <Field label={words.since} name="since" type="datetime-local" hint={words.since_hint} required />
      </Form>
    </section>
  )
}

interface DeliveryItemProps {
  delivery: WebhookDelivery
  isBusy: boolean
  onReplay: () => void
}

function DeliveryItem({ delivery, isBusy, onReplay }: DeliveryItemProps) {
  const words = webhooksTexts.value
  const { event_id, type, at, status, attempts, next_at } = delivery
  return (
    <li>
      <span class="name">
        <code>{type}</code>
        <span class={status === 'dead' ? 'tag warning' : 'tag'}>{words.delivery_statuses[status]}</span>
        <time datetime={at} title={longTime(at)}>
          {shortTime(at)}
        </time>
        <small>
          <code>{event_id}</code>
          {next_at !== undefined && ` · ${words.next(shortTime(next_at))}`}
        </small>
        {attempts.length > 0 && (
          <details class="attempts">
            <summary>{words.attempts(attempts.length)}</summary>
            <ol>
              {attempts.map((attempt) => (
                <li key={attempt.at}>
                  {shortTime(attempt.at)} · {outcomeText(attempt)}
                </li>
              ))}
            </ol>
          </details>
        )}
      </span>
      {status !== 'pending' && (
        <button type="button" aria-label={words.replay_of(type, shortTime(at))} disabled={isBusy} onClick={onReplay}>
          {words.replay}
        </button>
      )}
    </li>
  )
}
