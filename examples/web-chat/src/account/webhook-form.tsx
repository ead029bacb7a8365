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

/** Of a new webhook, or of one that is changed: `null` for all rooms. */
type Sent = Omit<WebhookInput, 'conversation_id'> & { conversation_id?: string | null }

interface WebhookFormProps {
  /** That is changed. Default: a new one. */
  webhook?: Webhook
  bots: readonly Bot[]
  button: string
  send: (input: Sent) => Promise<unknown>
}

/** What is sent where; of a webhook that exists, what can be changed of it. */
export function WebhookForm({ webhook, bots, button, send }: WebhookFormProps) {
  const { conversations } = useReadable(useApp().store.conversations)
  const words = webhooksTexts.value
  const [bot_id, setBot] = useState('')
  const [conversation_id, setConversation] = useState(webhook?.conversation_id ?? '')
  const [order, setOrder] = useState<'none' | 'conversation'>(webhook?.order ?? 'none')
  const [payload, setPayload] = useState<'full' | 'thin'>(webhook?.payload ?? 'full')
  const [signature, setSignature] = useState<'v1' | 'v1a'>('v1')
  const isUnlisted = conversation_id !== '' && conversations.every(({ id }) => id !== conversation_id)
  const { action, dialog } = useConfirmed(async (form: HTMLFormElement) => {
    const { url = '', types = '', description = '' } = fieldsOf(form)
    const names = types.split(/[\s,]+/).filter(Boolean)
    const made = { ...(bot_id && { bot_id }), signature }
    await send({
      url: url.trim(),
      ...(names.length > 0 && { types: names }),
      ...(description !== (webhook?.description ?? '') && { description }),
      ...(conversation_id !== (webhook?.conversation_id ?? '') && { conversation_id: conversation_id || null }),
      ...{ order, payload },
      ...(webhook === undefined && made),
    })
    if (!webhook) form.reset()
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
        <Select
          label={words.order}
          value={order}
          options={(['none', 'conversation'] as const).map((each) => [each, words.orders[each]])}
          onChange={setOrder}
        />
        <Select
          label={words.payload}
          value={payload}
          options={(['full', 'thin'] as const).map((each) => [each, words.payloads[each]])}
          onChange={setPayload}
        />
        {!webhook && (
          <Select
            label={words.signature}
            value={signature}
            options={(['v1', 'v1a'] as const).map((each) => [each, words.signatures[each]])}
            onChange={setSignature}
          />
        )}
        <Field
          label={words.description}
          name="description"
          autocomplete="off"
          maxLength={500}
          defaultValue={webhook?.description ?? ''}
          hint={words.description_hint}
        />
      </Form>
      {dialog}
    </>
  )
}
