import type { ApiKey, CreatedKey } from 'chat-server/client'
import { useState } from 'preact/hooks'
import { Confirm } from '../parts/confirm.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { Field, fieldsOf } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { useLoad } from '../parts/load.ts'
import { OnceShown } from '../parts/once-shown.tsx'
import { Select } from '../parts/select.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { accountTexts } from '../texts/settings.ts'
import { useConfirmed } from './confirmed.tsx'
import { KeyItem } from './key-item.tsx'

const PERIODS = ['30', '90', '365', 'never'] as const
const DAY_MS = 86_400_000

interface KeyListProps {
  /** What they are for. */
  text: string
  none: string
  list: (signal: AbortSignal) => Promise<{ keys: readonly ApiKey[] }>
  create: (key: { name: string; expires_at?: string }) => Promise<CreatedKey>
  revoke: (id: string) => Promise<unknown>
  mayCreate?: boolean
}

/** API keys: created with a name, shown once, revoked. */
export function KeyList({ text, none, list, create: createKey, revoke, mayCreate = true }: KeyListProps) {
  const { keys: words } = accountTexts.value
  const { value, error, reload } = useLoad(list)
  const [created, setCreated] = useState<CreatedKey>()
  const [revoking, setRevoking] = useState<ApiKey>()
  const [period, setPeriod] = useState<(typeof PERIODS)[number]>('90')
  const create = useConfirmed(async (form: HTMLFormElement) => {
    const expires_at = period === 'never' ? undefined : new Date(Date.now() + Number(period) * DAY_MS).toISOString()
    setCreated(await createKey({ name: fieldsOf(form).name ?? '', ...(expires_at && { expires_at }) }))
    form.reset()
    reload()
  })
  return (
    <>
      <p class="hint">{text}</p>
      <ErrorNote error={error} onRetry={reload} />
      {!value && !error && <Waiting onRetry={reload} />}
      {value?.keys.length === 0 && <p class="quiet">{none}</p>}
      <ul class="items">
        {value?.keys.map((key) => (
          <KeyItem key={key.id} apiKey={key} onRevoke={() => setRevoking(key)} />
        ))}
      </ul>
      {mayCreate && (
        <section>
          <h3>{words.create}</h3>
          <Form action={create.action} button={words.create}>
            <Field label={words.name} name="name" placeholder={words.name_hint} maxLength={100} required />
            <Select
              label={words.expires}
              value={period}
              options={PERIODS.map((each) => [each, words.periods[each]])}
              onChange={setPeriod}
            />
          </Form>
        </section>
      )}
      {create.dialog}
      {created && (
        <OnceShown
          title={words.created(created.name)}
          text={words.created_text}
          label={words.title}
          value={created.key}
          copyLabel={words.copy}
          onClose={() => setCreated(undefined)}
        />
      )}
      {revoking && (
        <Confirm
          title={words.revoke_title(revoking.name)}
          text={words.revoke_text}
          button={words.revoke}
          act={() => revoke(revoking.id).then(reload)}
          onClose={() => setRevoking(undefined)}
        />
      )}
    </>
  )
}
