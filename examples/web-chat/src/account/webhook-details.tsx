import type { Bot, User, Webhook } from 'chat-server/client'
import { useApp } from '../app/context.ts'
import { useReadable } from '../app/readable.ts'
import { titleOf } from '../conversations/title.ts'
import { CopyField } from '../parts/once-shown.tsx'
import { showToast } from '../parts/toast.tsx'
import { webhooksTexts } from '../texts/integrations.ts'
import { accountTexts } from '../texts/settings.ts'
import { texts } from '../texts/texts.ts'
import { shortTime } from '../texts/time.ts'
import { WebhookActions } from './webhook-actions.tsx'
import { WebhookDeliveries } from './webhook-deliveries.tsx'
import { WebhookForm } from './webhook-form.tsx'
import { DEFAULT_PARALLEL } from './webhook-more.tsx'
import { WebhookName } from './webhooks.tsx'

export interface WebhookDetailsProps {
  webhook: Webhook
  bots: readonly Bot[]
  /** Whether the user may make webhooks. */
  mayMake: boolean
  user: User
  onChanged: () => void
}

/** One webhook: whether events are sent and why not, what can be done with it, and what became of its events. */
export function WebhookDetails(props: WebhookDetailsProps) {
  const { webhook, bots, onChanged } = props
  const { client } = useApp()
  const words = webhooksTexts.value
  const { id, status, disabled_reason, public_key } = webhook
  return (
    <>
      <div class="identity">
        <WebhookName webhook={webhook} bots={bots} />
      </div>
      {status === 'unverified' && <p>{words.unverified_text}</p>}
      {disabled_reason && <p>{words.reasons[disabled_reason]}</p>}
      <Facts webhook={webhook} />
      {public_key !== undefined && (
        <CopyField label={words.public_key} value={public_key} copyLabel={words.copy_public_key} />
      )}
      <WebhookActions {...props} />
      <WebhookDeliveries webhook_id={id} onChanged={onChanged} />
      <section>
        <h3>{words.change}</h3>
        <WebhookForm
          webhook={webhook}
          bots={bots}
          button={texts.value.save}
          send={async (changes) => {
            await client.webhooks.change(id, changes)
            showToast(words.saved)
            onChanged()
          }}
        />
      </section>
    </>
  )
}

function Facts({ webhook }: { webhook: Webhook }) {
  const { conversations } = useReadable(useApp().store.conversations)
  const words = webhooksTexts.value
  const { types, conversation_id, order, payload, signature, last_success_at, created_at } = webhook
  const { only, bots, bot_id, parallel, headers } = webhook
  const room = conversations.find((each) => each.id === conversation_id)
  return (
    <p class="hint">
      {[
        types.join(', '),
        conversation_id === undefined ? words.all_rooms : room ? words.in_room(titleOf(room)) : words.one_room,
        // What is as it is without a choice of the user goes without saying.
        ...(only === 'notified' ? [words.onlys.notified] : []),
        ...(bots || bot_id !== undefined ? [] : [words.without_bots]),
        words.orders[order],
        ...(parallel === DEFAULT_PARALLEL ? [] : [words.at_a_time(parallel)]),
        words.payloads[payload],
        words.signatures[signature],
        ...(headers.length > 0 ? [words.with_headers(headers.join(', '))] : []),
        last_success_at ? words.last_success(shortTime(last_success_at)) : words.no_success,
        accountTexts.value.since(shortTime(created_at)),
      ].join(' · ')}
    </p>
  )
}
