import type { CreatedHook, IncomingHook } from 'chat-server/client'
import { useState } from 'preact/hooks'
import { useConfirmed } from '../account/confirmed.tsx'
import { useApp } from '../app/context.ts'
import { Confirm } from '../parts/confirm.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { Field, fieldsOf } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { useLoad } from '../parts/load.ts'
import { CopyField, OnceShown } from '../parts/once-shown.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { hooksTexts } from '../texts/integrations.ts'
import { accountTexts } from '../texts/settings.ts'
import { shortTime } from '../texts/time.ts'
import type { TabProps } from './pane.tsx'

/** The addresses at which tools post into a room: each is shown once, with a command that tries it. */
export function Hooks({ conversation: { id: conversation_id, frozen_at } }: TabProps) {
  const { client } = useApp()
  const words = hooksTexts.value
  const { since } = accountTexts.value
  const { value, error, reload } = useLoad((signal) => client.hooks.list(conversation_id, { signal }))
  const [created, setCreated] = useState<CreatedHook>()
  const [removing, setRemoving] = useState<IncomingHook>()
  const create = useConfirmed(async (form: HTMLFormElement) => {
    setCreated(await client.hooks.create(conversation_id, { name: fieldsOf(form).name ?? '' }))
    form.reset()
    reload()
  })
  return (
    <section>
      <h3>{words.title}</h3>
      <p class="hint">{words.text}</p>
      {frozen_at && <p>{words.frozen}</p>}
      <ErrorNote error={error} onRetry={reload} />
      {!value && !error && <Waiting kind="item" onRetry={reload} />}
      {value?.hooks.length === 0 && <p class="quiet">{words.none}</p>}
      <ul class="items">
        {value?.hooks.map((hook) => (
          <li key={hook.id}>
            <span class="name">
              <strong dir="auto">{hook.name}</strong>
              <small>{since(shortTime(hook.created_at))}</small>
            </span>
            <button type="button" aria-label={words.remove_of(hook.name)} onClick={() => setRemoving(hook)}>
              {words.remove}
            </button>
          </li>
        ))}
      </ul>
      {!frozen_at && (
        <Form action={create.action} button={words.create}>
          <Field label={words.name} name="name" autocomplete="off" maxLength={100} hint={words.name_hint} required />
        </Form>
      )}
      {create.dialog}
      {created && <HookShown {...created} onClose={() => setCreated(undefined)} />}
      {removing && (
        <Confirm
          title={words.remove_title(removing.name)}
          text={words.remove_text}
          button={words.remove}
          act={() => client.hooks.remove(conversation_id, removing.id).then(reload)}
          onClose={() => setRemoving(undefined)}
        />
      )}
    </section>
  )
}

/** The address of a new hook, which the service shows once, and a command that posts to it. */
function HookShown({ hook, url, onClose }: CreatedHook & { onClose: () => void }) {
  const { base_url } = useApp().client_options
  const words = hooksTexts.value
  // A path where no public address is configured.
  const address = new URL(url, new URL(base_url, location.href)).href
  return (
    <OnceShown
      title={words.created(hook.name)}
      text={words.created_text}
      label={words.address}
      value={address}
      copyLabel={words.copy_address}
      onClose={onClose}
    >
      <CopyField label={words.try} value={commandOf(address, words.hello)} copyLabel={words.copy_try} />
    </OnceShown>
  )
}

/** A line for a shell. Neither an address nor a text of the page has a quote in it. */
function commandOf(address: string, content: string): string {
  return `curl '${address}' --json '${JSON.stringify({ content })}'`
}
