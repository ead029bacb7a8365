import type { Account } from 'chat-server/client/admin'
import { useState } from 'preact/hooks'
import { useAction } from '../app/action.ts'
import { nameOf } from '../app/people.ts'
import { goTo } from '../app/route.ts'
import { Dialog } from '../parts/dialog.tsx'
import { ErrorNote } from '../parts/error-note.tsx'
import { Field } from '../parts/field.tsx'
import { Select } from '../parts/select.tsx'
import { showToast } from '../parts/toast.tsx'
import { administrationTexts } from '../texts/settings.ts'
import { texts } from '../texts/texts.ts'
import { useAdmin } from './admin.ts'

/** Erases a user for ever: its name has to be typed. What then goes on is shown above the list of users. */
export function EraseUser({ account, onClose }: { account: Account; onClose: () => void }) {
  const admin = useAdmin()
  const { users: words } = administrationTexts.value
  const [typed, setTyped] = useState('')
  const [messages, setMessages] = useState<'keep' | 'erase'>('keep')
  const { run, isRunning, error } = useAction(async () => {
    await admin.users.erase(account.id, { messages })
    onClose()
    showToast(words.erased)
    goTo({ name: 'administration', tab: 'users' }, { replace: true })
  })
  return (
    <Dialog title={words.erase_title(nameOf(account))} onClose={onClose}>
      <p>{words.erase_text}</p>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void run()
        }}
      >
        <Select
          label={words.erase_messages}
          value={messages}
          options={(['keep', 'erase'] as const).map((each) => [each, words.erase_choices[each]])}
          onChange={setMessages}
        />
        <Field
          label={words.erase_confirm(account.username)}
          name="name"
          autocomplete="off"
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
        <ErrorNote error={error} />
        <p class="buttons">
          <button type="button" onClick={onClose}>
            {texts.value.cancel}
          </button>
          <button type="submit" class="danger" disabled={isRunning || typed !== account.username}>
            {words.erase}
          </button>
        </p>
      </form>
    </Dialog>
  )
}
