import type { Bot, Webhook, WebhookInput } from 'chat-server/client'
import { useState } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { nameOf } from '../app/people.ts'
import { useReadable } from '../app/readable.ts'
import { titleOf } from '../conversations/title.ts'
import { Field, fieldsOf } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { Select } from '../parts/select.tsx'
import { webhooksTexts } from '../texts/integrations.ts'
import { useConfirmed } from './confirmed.tsx'
import { headersIn } from './webhook-headers.ts'
import { type WebhookChoices, WebhookMore } from './webhook-more.tsx'

/** Of a new webhook, or of one that is changed: `null` for all rooms. */
type Sent = Omit<WebhookInput, 'conversation_id'> & { conversation_id?: string | null }

interface WebhookFormProps {
  /** That is changed. Default: a new one. */
  webhook?: Webhook
  bots: readonly Bot[]
  button: string
  send: (input: Sent) => Promise<unknown>
}

const USUAL: WebhookChoices = { only: 'all', bots: undefined, order: 'none', payload: 'full', signature: 'v1' }

/** What is sent where; of a webhook that exists, what can be changed of it. */
export function WebhookForm({ webhook, bots, button, send }: WebhookFormProps) {
  const { conversations } = useReadable(useApp().store.conversations)
  const words = webhooksTexts.value
  const [bot_id, setBot] = useState(webhook?.bot_id ?? '')
  const [conversation_id, setConversation] = useState(webhook?.conversation_id ?? '')
  const [choices, setChoices] = useState<WebhookChoices>(webhook ?? USUAL)
  const isUnlisted = conversation_id !== '' && conversations.every(({ id }) => id !== conversation_id)
  const { action, dialog } = useConfirmed(async (form: HTMLFormElement) => {
    await send({
      ...typedIn(form, webhook),
      ...chosenIn(choices),
      ...(conversation_id !== (webhook?.conversation_id ?? '') && { conversation_id: conversation_id || null }),
      ...(!webhook && bot_id && { bot_id }),
    })
    if (webhook) emptyOnceSent(form)
    else form.reset()
  })
  return (
    <>
      <Form action={action} button={button}>
        <Field
          label={words.url}
          name="url"
          type="url"
          autocomplete="off"
          placeholder="https://"
          maxLength={2048}
          defaultValue={webhook?.url ?? ''}
          hint={words.url_hint}
          required
        />
        <Field
          label={words.types}
          name="types"
          autocomplete="off"
          placeholder="message.new, message.done"
          defaultValue={webhook?.types.join(', ') ?? ''}
          hint={words.types_hint}
          required={webhook !== undefined}
        />
        {!webhook && bots.length > 0 && (
          <Select
            label={words.whose}
            value={bot_id}
            options={[['', words.own], ...bots.map((bot) => [bot.id, nameOf(bot)] as const)]}
            onChange={setBot}
          />
        )}
        <Select
          label={words.room}
          value={conversation_id}
          options={[
            ['', words.all_rooms],
            ...(isUnlisted ? [[conversation_id, words.one_room] as const] : []),
            ...conversations.map((each) => [each.id, titleOf(each)] as const),
          ]}
          onChange={setConversation}
        />
        <Field
          label={words.description}
          name="description"
          autocomplete="off"
          maxLength={500}
          defaultValue={webhook?.description ?? ''}
          hint={words.description_hint}
        />
        <WebhookMore webhook={webhook} isOfBot={bot_id !== ''} choices={choices} onChange={setChoices} />
      </Form>
      {dialog}
    </>
  )
}

/** What is written in the fields of the form. */
function typedIn(form: HTMLFormElement, webhook: Webhook | undefined) {
  const { url = '', types = '', description = '', parallel, headers = '', no_headers, since } = fieldsOf(form)
  const names = types.split(/[\s,]+/).filter(Boolean)
  const lines = headersIn(headers, webhooksTexts.value.headers_wrong)
  return {
    url: url.trim(),
    ...(names.length > 0 && { types: names }),
    ...(description !== (webhook?.description ?? '') && { description }),
    parallel: Number(parallel),
    ...((no_headers !== undefined || Object.keys(lines).length > 0) && { headers: lines }),
    ...(since && { since: new Date(since).toISOString() }),
  }
}

/** Empties what is sent once, so that the next change does not send it again. */
function emptyOnceSent(form: HTMLFormElement): void {
  for (const field of form.querySelectorAll<HTMLInputElement>('[name=since], [name=headers], [name=no_headers]')) {
    field.value = ''
    field.checked = false
  }
}

/** What is chosen in its lists. */
function chosenIn({ only, bots, order, payload, signature }: WebhookChoices) {
  return { only, ...(bots !== undefined && { bots }), order, payload, signature }
}
