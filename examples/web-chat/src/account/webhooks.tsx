import type { Bot, CreatedWebhook, User, Webhook } from 'chat-server/client'
import { useState } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { nameOf } from '../app/people.ts'
import { goTo, hrefOf } from '../app/route.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { useLoad } from '../parts/load.ts'
import { OnceShown } from '../parts/once-shown.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { webhooksTexts } from '../texts/integrations.ts'
import { texts } from '../texts/texts.ts'
import { WebhookDetails } from './webhook-details.tsx'
import { WebhookForm } from './webhook-form.tsx'
import { lagOf } from './webhook-words.ts'

/** The webhooks of the user and of the user's bots, or the one that the address names. */
export function Webhooks({ id, user }: { id: string | undefined; user: User }) {
  const { client, features } = useApp()
  const words = webhooksTexts.value
  const { value, error, reload } = useLoad(async (signal) => {
    const [{ webhooks }, { bots }, { can }] = await Promise.all([
      client.webhooks.list({}, { signal }),
      features.bots ? client.bots.list({ signal }) : { bots: [] },
      client.auth.me({ signal }),
    ])
    return { webhooks, bots, mayMake: can.keys === true }
  })
  const shown = value?.webhooks.find((webhook) => webhook.id === id)
  return (
    <>
      {id !== undefined && (
        <p>
          <a href={hrefOf({ name: 'account', tab: 'webhooks' })}>{words.all}</a>
        </p>
      )}
      <ErrorNote error={error} onRetry={reload} />
      {!value && !error && <Waiting onRetry={reload} />}
      {value && id === undefined && <WebhookList {...value} onChanged={reload} />}
      {value && id !== undefined && !shown && <p class="quiet">{texts.value.errors.codes.not_found}</p>}
      {value && shown && <WebhookDetails key={shown.id} webhook={shown} {...value} user={user} onChanged={reload} />}
    </>
  )
}

interface WebhookListProps {
  webhooks: readonly Webhook[]
  bots: readonly Bot[]
  mayMake: boolean
  onChanged: () => void
}

function WebhookList({ webhooks, bots, mayMake, onChanged }: WebhookListProps) {
  const { client } = useApp()
  const words = webhooksTexts.value
  const [created, setCreated] = useState<CreatedWebhook>()
  const show = (webhook: Webhook) => goTo({ name: 'account', tab: 'webhooks', id: webhook.id })
  return (
    <>
      <p class="hint">{words.text}</p>
      {webhooks.length === 0 && <p class="quiet">{words.none}</p>}
      <ul class="items">
        {webhooks.map((webhook) => (
          <li key={webhook.id}>
            <WebhookName webhook={webhook} bots={bots} isLink />
          </li>
        ))}
      </ul>
      {mayMake && (
        <section>
          <h3>{words.create}</h3>
          <WebhookForm
            bots={bots}
            button={words.create}
            send={async ({ conversation_id, ...input }) => {
              const made = await client.webhooks.create({ ...input, ...(conversation_id && { conversation_id }) })
              onChanged()
              // With a key pair there is no secret: the public key can be read at any time.
              if (made.secret === undefined) show(made.webhook)
              else setCreated(made)
            }}
          />
        </section>
      )}
      {created?.secret !== undefined && (
        <OnceShown
          title={words.created}
          text={words.secret_text}
          label={words.secret_label}
          value={created.secret}
          copyLabel={words.copy_secret}
          onClose={() => {
            show(created.webhook)
            setCreated(undefined)
          }}
        />
      )}
    </>
  )
}

interface WebhookNameProps {
  webhook: Webhook
  bots: readonly Bot[]
  isLink?: boolean
}

/** The URL of a webhook, whether events are sent to it, and what waits. */
export function WebhookName({ webhook, bots, isLink = false }: WebhookNameProps) {
  const words = webhooksTexts.value
  const { id, url, status, description, bot_id, lag_seconds, parked } = webhook
  const bot = bots.find((each) => each.id === bot_id)
  const facts = [
    bot ? words.of_bot(nameOf(bot)) : '',
    lag_seconds >= 1 ? words.lag(lagOf(lag_seconds)) : '',
    parked > 0 ? words.parked(parked) : '',
  ].filter(Boolean)
  return (
    <span class="name">
      {isLink ? (
        <a href={hrefOf({ name: 'account', tab: 'webhooks', id })} dir="ltr">
          {url}
        </a>
      ) : (
        <strong dir="ltr">{url}</strong>
      )}
      <span class={status === 'active' ? 'tag' : 'tag warning'}>{words.statuses[status]}</span>
      {description && <small dir="auto">{description}</small>}
      {facts.length > 0 && <small>{facts.join(' · ')}</small>}
    </span>
  )
}
