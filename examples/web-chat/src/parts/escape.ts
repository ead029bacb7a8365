import { useEffect } from 'preact/hooks'

/** Acts on Escape, wherever the focus is, unless something else is closed by that. */
export function useEscape(act: () => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isInner = event.target instanceof Element && event.target.closest('dialog, .panel, .edit')
      if (event.key === 'Escape' && !event.shiftKey && !event.defaultPrevented && !isInner) act()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  })
}
