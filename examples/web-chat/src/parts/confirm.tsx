import { useAction } from '../app/action.ts'
import { texts } from '../texts/texts.ts'
import { Dialog } from './dialog.tsx'
import { ErrorNote } from './error-note.tsx'

interface ConfirmProps {
  title: string
  text: string
  /** What the button that does it says. */
  button: string
  act: () => Promise<unknown>
  onClose: () => void
}

/** Asks before something that cannot be undone, or not easily. */
export function Confirm({ title, text, button, act, onClose }: ConfirmProps) {
  const { run, isRunning, error } = useAction(async () => {
    await act()
    onClose()
  })
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{text}</p>
      <ErrorNote error={error} />
      <p class="buttons">
        <button type="button" onClick={onClose}>
          {texts.value.cancel}
        </button>
        <button type="button" class="danger" disabled={isRunning} onClick={() => void run()}>
          {button}
        </button>
      </p>
    </Dialog>
  )
}
