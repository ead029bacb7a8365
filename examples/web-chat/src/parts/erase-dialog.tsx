import { useState } from 'preact/hooks'
import { useAction } from '../app/action.ts'
import { nameOf } from '../app/people.ts'
import { administrationTexts } from '../texts/settings.ts'
import { texts } from '../texts/texts.ts'
import { Dialog } from './dialog.tsx'
import { ErrorNote } from './error-note.tsx'
import { Field } from './field.tsx'
import { Select } from './select.tsx'

interface EraseDialogProps {
  account: { username: string; display_name?: string }
  text: string
  erase: (messages: 'keep' | 'erase') => Promise<unknown>
  onErased: () => void
  onClose: () => void
}

/** Erases an account for ever: its username has to be typed. */
export function EraseDialog({ account, text, erase, onErased, onClose }: EraseDialogProps) {
  const { users: words } = administrationTexts.value
  const [typed, setTyped] = useState('')
  const [messages, setMessages] = useState<'keep' | 'erase'>('keep')
  const { run, isRunning, error } = useAction(async () => {
    await erase(messages)
    onClose()
    onErased()
  })
  return (
    <Dialog title={words.erase_title(nameOf(account))} onClose={onClose}>
      <p>{text}</p>
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
