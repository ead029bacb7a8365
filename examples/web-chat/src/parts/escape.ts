import type { RefObject } from 'preact'
import { useEffect } from 'preact/hooks'

/** Whether Escape is pressed, and nothing inside of where one acts on it is closed by that. */
function isEscape({ key, shiftKey, defaultPrevented, target }: KeyboardEvent): boolean {
  const isInner = target instanceof Element && target.closest('dialog, .panel, .edit')
  return key === 'Escape' && !shiftKey && !defaultPrevented && !isInner
}

/** Acts on Escape, wherever the focus is, unless something else is closed by that. */
export function useEscape(act: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => isEscape(event) && act()
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  })
}

/** Acts on Escape in the pane around an element, and with the focus nowhere, as after a click on a message. @param act returns whether it did something */
export function usePaneEscape(inside: RefObject<HTMLElement | null>, act: () => boolean): void {
  useEffect(() => {
    const pane = inside.current!.closest<HTMLElement>('.pane')!
    const onKey = (event: KeyboardEvent) => isEscape(event) && act() && event.preventDefault()
    const onBody = (event: KeyboardEvent) => event.target === document.body && onKey(event)
    pane.addEventListener('keydown', onKey)
    addEventListener('keydown', onBody)
    return () => {
      pane.removeEventListener('keydown', onKey)
      removeEventListener('keydown', onBody)
    }
  })
}
