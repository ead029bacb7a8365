import type { AccountFacts, ResetLink } from 'chat-server/client/admin'
import { useState } from 'preact/hooks'
import { useConfirmed } from '../account/confirmed.tsx'
import { useAction } from '../app/action.ts'
import { useApp } from '../app/context.ts'
import { linkTo } from '../app/route.ts'
import { ErrorNote } from '../parts/error-note.tsx'
import { OnceShown } from '../parts/once-shown.tsx'
import { showToast } from '../parts/toast.tsx'
import { entryTexts } from '../texts/entry.ts'
import { administrationTexts } from '../texts/settings.ts'
import { shortTime } from '../texts/time.ts'
import { useAdmin } from './admin.ts'

/** Ways back in for a user: a link for a new password, and an end of the lock after failed sign-ins. */
export function UserSignIn({ facts, onChanged }: { facts: AccountFacts; onChanged: () => void }) {
  const admin = useAdmin()
  const { features } = useApp()
  const { users: words } = administrationTexts.value
  const { id, disabled_at } = facts.user
  const [link, setLink] = useState<ResetLink>()
  const reset = useConfirmed(async () => setLink(await admin.users.issueReset(id)))
  const unlock = useAction(async () => {
    await admin.users.unlock(id)
    showToast(words.unlocked)
    onChanged()
  })
  if (!features.sign_in) return null
  return (
    <section>
      <h3>{entryTexts.value.signIn.button}</h3>
      {facts.locked_until && (
        <div class="toolbar">
          <p>{words.locked(shortTime(facts.locked_until))}</p>
          <button type="button" disabled={unlock.isRunning} onClick={() => void unlock.run()}>
            {words.unlock}
          </button>
        </div>
      )}
      <button
        type="button"
        disabled={reset.action.isRunning || disabled_at !== undefined}
        onClick={() => void reset.action.run()}
      >
        {words.reset}
      </button>
      <ErrorNote error={unlock.error ?? reset.action.error} />
      {reset.dialog}
      {link && (
        <OnceShown
          title={words.reset_title}
          text={words.reset_text(shortTime(link.expires_at))}
          label={words.link}
          value={link.url ?? linkTo({ name: 'reset', token: link.token })}
          copyLabel={words.copy}
          onClose={() => setLink(undefined)}
        />
      )}
    </section>
  )
}
