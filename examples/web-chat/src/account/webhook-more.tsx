import type { Webhook } from 'chat-server/client'
import { Field } from '../parts/field.tsx'
import { More } from '../parts/more.tsx'
import { Select } from '../parts/select.tsx'
import { TextArea } from '../parts/text-area.tsx'
import { webhooksTexts } from '../texts/integrations.ts'

/** How many calls the service makes at a time unless a webhook says otherwise. */
export const DEFAULT_PARALLEL = 4

/** The length of five headers with the longest names and values. */
const MAX_HEADERS = 5500

/** What is chosen in a list. */
export interface WebhookChoices extends Pick<Webhook, 'only' | 'order' | 'payload' | 'signature'> {
  /** `undefined` until it is chosen: what is usual depends on whose webhook it is. */
  bots: boolean | undefined
}

interface WebhookMoreProps {
  /** That is changed. */
  webhook: Webhook | undefined
  isOfBot: boolean
  choices: WebhookChoices
  onChange: (choices: WebhookChoices) => void
}

/** Which events are sent and how, for those who need it otherwise than usual. */
export function WebhookMore({ webhook, isOfBot, choices, onChange }: WebhookMoreProps) {
  const words = webhooksTexts.value
  const { only, bots = !isOfBot, order, payload, signature } = choices
  const choose = (change: Partial<WebhookChoices>) => onChange({ ...choices, ...change })
  return (
    <More label={words.more}>
      <Select
        label={words.only}
        value={only}
        options={(['all', 'notified'] as const).map((each) => [each, words.onlys[each]])}
        onChange={(value) => choose({ only: value })}
      />
      <Select
        label={words.of_bots}
        value={bots ? 'sent' : 'left_out'}
        options={[
          ['sent', words.bots_sent],
          ['left_out', words.bots_left_out],
        ]}
        onChange={(value) => choose({ bots: value === 'sent' })}
      />
      <Select
        label={words.order}
        value={order}
        options={(['none', 'conversation'] as const).map((each) => [each, words.orders[each]])}
        onChange={(value) => choose({ order: value })}
      />
      <Field
        label={words.parallel}
        name="parallel"
        type="number"
        min={1}
        max={16}
        defaultValue={String(webhook?.parallel ?? DEFAULT_PARALLEL)}
        hint={words.parallel_hint}
        required
      />
      <Select
        label={words.payload}
        value={payload}
        options={(['full', 'thin'] as const).map((each) => [each, words.payloads[each]])}
        onChange={(value) => choose({ payload: value })}
      />
      <Select
        label={words.signature}
        value={signature}
        options={(['v1', 'v1a'] as const).map((each) => [each, words.signatures[each]])}
        onChange={(value) => choose({ signature: value })}
      />
      {webhook && signature !== webhook.signature && <p class="hint">{words.signature_hint}</p>}
      <Headers names={webhook?.headers ?? []} />
      <Field
        label={words.begin}
        name="since"
        type="datetime-local"
        hint={webhook ? words.begin_again : words.begin_hint}
      />
    </More>
  )
}

function Headers({ names }: { names: readonly string[] }) {
  const words = webhooksTexts.value
  const kept = names.length > 0 ? `${words.headers_kept(names.join(', '))} ` : ''
  return (
    <>
      <TextArea
        label={words.headers}
        name="headers"
        rows={2}
        dir="ltr"
        maxLength={MAX_HEADERS}
        hint={`${kept}${words.headers_hint}`}
      />
      {names.length > 0 && (
        <label class="check">
          <input type="checkbox" name="no_headers" />
          {words.headers_removed}
        </label>
      )}
    </>
  )
}
