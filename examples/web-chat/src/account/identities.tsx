import type { OwnIdentity } from 'chat-server/client'
import { useState } from 'preact/hooks'
import { useApp } from '../app/context.ts'
import { Confirm } from '../parts/confirm.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { useLoad } from '../parts/load.ts'
import { Waiting } from '../parts/waiting.tsx'
import { accountTexts } from '../texts/settings.ts'
import { shortTime } from '../texts/time.ts'
import { useConfirmed } from './confirmed.tsx'

/** The accounts at providers that sign the user in, and a button for each provider that may be linked. */
export function Identities() {
  const { client, features } = useApp()
  const { identities: words, since } = accountTexts.value
  const { value, error, reload } = useLoad((signal) => client.identities.list({ signal }))
  const [unlinking, setUnlinking] = useState<OwnIdentity>()
  const link = useConfirmed(async (name: string) => {
    const { auth_url } = await client.oauth.begin(name, { redirect_to: location.pathname + location.hash, link: true })
    location.assign(auth_url)
  })
  const titleOf = (provider: string) => features.providers.find(({ name }) => name === provider)?.title ?? provider
  const linked = value?.identities ?? []
  if (features.providers.length === 0 && linked.length === 0) return <ErrorNote error={error} />
  return (
    <section>
      <h3>{words.title}</h3>
      <p class="hint">{words.text}</p>
      <ErrorNote error={error ?? link.action.error} />
      {!value && !error && <Waiting onRetry={reload} />}
      {value && linked.length === 0 && <p class="quiet">{words.none}</p>}
      <ul class="items">
        {linked.map((each) => (
          <li key={each.id}>
            <span class="name">
              <strong>{titleOf(each.provider)}</strong>
              <small>{since(shortTime(each.created_at))}</small>
            </span>
            <button
              type="button"
              aria-label={words.unlink_of(titleOf(each.provider))}
              onClick={() => setUnlinking(each)}
            >
              {words.unlink}
            </button>
          </li>
        ))}
      </ul>
      <p class="buttons start">
        {features.providers.map(({ name, title }) => (
          <button key={name} type="button" disabled={link.action.isRunning} onClick={() => void link.action.run(name)}>
            {words.link(title)}
          </button>
        ))}
      </p>
      {link.dialog}
      {unlinking && (
        <Confirm
          title={words.unlink_title(titleOf(unlinking.provider))}
          text={words.unlink_text}
          button={words.unlink}
          act={() => client.identities.remove(unlinking.id).then(reload)}
          onClose={() => setUnlinking(undefined)}
        />
      )}
    </section>
  )
}
