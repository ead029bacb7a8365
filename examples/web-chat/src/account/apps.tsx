import type { Grant } from 'chat-server/client'
import { useState } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { Confirm } from '../parts/confirm.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { useLoad } from '../parts/load.ts'
import { CopyField } from '../parts/once-shown.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { accountTexts } from '../texts/settings.ts'
import { shortTime } from '../texts/time.ts'

/** The address that applications connect to, and those that the user has connected. */
export function Apps({ url }: { url: string }) {
  const { grants } = useApp().client
  const { apps: words } = accountTexts.value
  const { value, error, reload } = useLoad((signal) => grants.list({ signal }))
  const [revoking, setRevoking] = useState<Grant>()
  return (
    <>
      <p class="hint">{words.text}</p>
      <CopyField label={words.url} value={new URL(url, location.href).href} copyLabel={words.copy} />
      <section>
        <h3>{words.title}</h3>
        <ErrorNote error={error} onRetry={reload} />
        {!value && !error && <Waiting onRetry={reload} />}
        {value?.grants.length === 0 && <p class="quiet">{words.none}</p>}
        <ul class="items">
          {value?.grants.map((grant) => (
            <AppItem key={grant.id} grant={grant} onRevoke={() => setRevoking(grant)} />
          ))}
        </ul>
      </section>
      {revoking && (
        <Confirm
          title={words.revoke_title(revoking.client_name)}
          text={words.revoke_text}
          button={words.revoke}
          act={() => grants.revoke(revoking.id).then(reload)}
          onClose={() => setRevoking(undefined)}
        />
      )}
    </>
  )
}

/** A connected application in a list, with a button that ends it. */
function AppItem({ grant, onRevoke }: { grant: Grant; onRevoke: () => void }) {
  const { apps: words, since } = accountTexts.value
  const { client_name, client_host, scopes, created_at, last_used_at } = grant
  return (
    <li>
      <span class="name">
        <strong dir="auto">{client_name}</strong>
        <small>
          {[
            client_host,
            scopes.map((scope) => words.scopes[scope]).join(', '),
            since(shortTime(created_at)),
            last_used_at ? words.used(shortTime(last_used_at)) : words.unused,
          ].join(' · ')}
        </small>
      </span>
      <button type="button" aria-label={words.revoke_of(client_name)} onClick={onRevoke}>
        {words.revoke}
      </button>
    </li>
  )
}
