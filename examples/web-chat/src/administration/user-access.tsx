import type { Account } from 'chat-server/client/admin'
import { useState } from 'preact/hooks'
import { useAction } from '../app/action.ts'
import { nameOf } from '../app/people.ts'
import { Confirm } from '../parts/confirm.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { showToast } from '../parts/toast.tsx'
import { administrationTexts } from '../texts/settings.ts'
import { useAdmin } from './admin.ts'
import { EraseUser } from './erase-user.tsx'

/** Takes access away: for a while, from all devices, or for ever. */
export function UserAccess({ account, onChanged }: { account: Account; onChanged: () => void }) {
  const admin = useAdmin()
  const { users: words } = administrationTexts.value
  const { id, disabled_at } = account
  const name = nameOf(account)
  const [opened, setOpened] = useState<'disable' | 'lockdown' | 'erase'>()
  const close = () => setOpened(undefined)
  const enable = useAction(() => admin.users.change(id, { disabled: false }).then(onChanged))
  const lockDown = async () => {
    const { sessions, keys } = await admin.users.lockDown(id)
    showToast(words.lockdown_done(sessions, keys))
    onChanged()
  }
  return (
    <section>
      <h3>{words.danger}</h3>
      <p class="buttons start">
        {disabled_at ? (
          <button type="button" disabled={enable.isRunning} onClick={() => void enable.run()}>
            {words.enable}
          </button>
        ) : (
          <button type="button" class="danger" onClick={() => setOpened('disable')}>
            {words.disable}
          </button>
        )}
        <button type="button" class="danger" onClick={() => setOpened('lockdown')}>
          {words.lockdown}
        </button>
        <button type="button" class="danger" onClick={() => setOpened('erase')}>
          {words.erase}
        </button>
      </p>
      <ErrorNote error={enable.error} />
      {opened === 'disable' && (
        <Confirm
          title={words.disable_title(name)}
          text={words.disable_text}
          button={words.disable}
          act={() => admin.users.change(id, { disabled: true }).then(onChanged)}
          onClose={close}
        />
      )}
      {opened === 'lockdown' && (
        <Confirm
          title={words.lockdown_title(name)}
          text={words.lockdown_text}
          button={words.lockdown}
          act={lockDown}
          onClose={close}
        />
      )}
      {opened === 'erase' && <EraseUser account={account} onClose={close} />}
    </section>
  )
}
