import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { entryTexts } from '../texts/entry.ts'

/** A button for each provider that can sign in; it leads away, and back to this page. */
export function Providers() {
  const { client, features } = useApp()
  const { run, isRunning, error } = useAction(async (name: string) => {
    const { auth_url } = await client.oauth.begin(name, { redirect_to: location.pathname + location.hash })
    location.assign(auth_url)
  })
  if (features.providers.length === 0) return null
  return (
    <div class="providers">
      <p class="or">{entryTexts.value.signIn.or}</p>
      {features.providers.map(({ name, title }) => (
        <button key={name} type="button" disabled={isRunning} onClick={() => void run(name)}>
          {entryTexts.value.signIn.with(title)}
        </button>
      ))}
      <ErrorNote error={error} />
    </div>
  )
}
