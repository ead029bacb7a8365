import type { RefObject } from 'preact'
import { useEffect } from 'preact/hooks'

/** Calls `onVisible` when the element comes into view, again each time it comes back. */
export function useVisible(ref: RefObject<Element | null>, onVisible: () => void, isActive = true): void {
  useEffect(() => {
    if (!isActive || !ref.current) return
    const observer = new IntersectionObserver(
      (entries) => entries.some(({ isIntersecting }) => isIntersecting) && onVisible(),
      { rootMargin: '300px' },
    )
    observer.observe(ref.current)
    return () => observer.disconnect()
  })
}
