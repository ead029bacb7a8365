import { useEffect } from 'preact/hooks'

/** Whether the keys of this device have a Command key. */
const IS_APPLE = /Mac|iP(hone|ad)/.test(navigator.platform)

/** How the keys are written on this device. */
export const SHORTCUT = IS_APPLE ? '⌘ K' : 'Ctrl K'

/** Calls `onPress` for Ctrl K, and ⌘ K; not while a dialog is open, which would be left behind. */
export function useShortcut(onPress: () => void): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (!(IS_APPLE ? event.metaKey : event.ctrlKey) || event.altKey || event.shiftKey) return
      if (event.key.toLowerCase() !== 'k') return
      // Browsers search with it.
      event.preventDefault()
      if (!document.querySelector('dialog[open]')) onPress()
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  })
}
