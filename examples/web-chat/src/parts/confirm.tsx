import { useState } from 'preact/hooks'
import { useAction } from '../app/action.ts'
import { texts } from '../texts/texts.ts'
import { Dialog } from './dialog.tsx'
import { ErrorNote } from './error-note.tsx'

interface ConfirmProps {
  title: string
  text: string
  /** What the button that does it says. */
  button: string
  /** What has to be typed before: for what is lost for everyone. */
  typed?: string
  act: () => Promise<unknown>
  onClose: () => void
}

/** Asks before something that cannot be undone, or not easily. */
export function Confirm({ title, text, button, typed, act, onClose }: ConfirmProps) {
  const [answer, setAnswer] = useState('')
  const isAnswered = typed === undefined || answer.trim() === typed.trim()
  const { run, isRunning, error } = useAction(async () => {
    await act()
    onClose()
  })
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{text}</p>
      {typed !== undefined && (
        <label>
          {texts.value.type_to_confirm(typed)}
          <input value={answer} onInput={(event) => setAnswer(event.currentTarget.value)} autocomplete="off" />
        </label>
      )}
      <ErrorNote error={error} />
      <p class="buttons">
        <button type="button" onClick={onClose}>
          {texts.value.cancel}
        </button>
        <button type="button" class="danger" disabled={isRunning || !isAnswered} onClick={() => void run()}>
          {button}
        </button>
      </p>
    </Dialog>
  )
}
