import type { RefObject } from 'preact'
import { useEffect } from 'preact/hooks'

/** Binds the keys of the messages of a list, once they are loaded. */
export function useMessageKeys(scroller: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    // Taken now: an effect of what has left the page ends after a paint, and its reference is empty by then.
    const list = scroller.current!
    let isLeft = false
    let end: (() => void) | undefined
    void import('./message-keys.ts').then(
      ({ bindMessageKeys }) => {
        if (!isLeft) end = bindMessageKeys(list)
      },
      // Without them, the list is used by Tab.
      () => {},
    )
    return () => {
      isLeft = true
      end?.()
    }
  }, [])
}
