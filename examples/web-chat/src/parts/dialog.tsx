import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { texts } from '../texts/texts.ts'
import { focusIn } from './focus.ts'
import { IconButton } from './icon-button.tsx'

interface DialogProps {
  title: string
  /** What gets the focus: the first field, where there is a keyboard, or the button that closes it. */
  focus?: 'field' | 'button'
  /** What it looks like, where it is not as other dialogs are. */
  kind?: string
  onKeyDown?: (event: KeyboardEvent) => void
  onClose: () => void
  children: ComponentChildren
}

/** A dialog over the page, open while it is rendered. Escape and a click beside it close it. */
export function Dialog({ title, focus = 'button', kind, onKeyDown, onClose, children }: DialogProps) {
  const id = useId()
  const ref = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const opener = document.activeElement
    const dialog = ref.current!
    dialog.showModal()
    if (focus === 'field') focusIn(dialog)
    return () => {
      const { activeElement } = document
      // One that Escape has closed says so later: the user may be in another field by then.
      const isElsewhere = activeElement !== document.body && !dialog.contains(activeElement)
      dialog.close()
      if (!isElsewhere && opener instanceof HTMLElement && opener.isConnected) opener.focus()
    }
  }, [])
  return (
    <dialog
      ref={ref}
      class={kind}
      aria-labelledby={id}
      onKeyDown={onKeyDown}
      onClose={onClose}
      onClick={(event) => event.target === ref.current && onClose()}
    >
      <div class="dialog">
        <header>
          <h2 id={id}>{title}</h2>
          <IconButton icon="close" label={texts.value.close} onClick={onClose} />
        </header>
        {children}
      </div>
    </dialog>
  )
}
