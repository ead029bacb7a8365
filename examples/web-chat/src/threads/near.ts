import { createContext, type RefObject } from 'preact'
import { useContext, useEffect, useMemo, useState } from 'preact/hooks'

/** How far from the view counts as near it: a page that is scrolled by the keyboard moves almost by its height. */
const MARGIN = '100%'

/** Tells once of each row of a thread when it comes near the view. */
export interface Nearness {
  /** @returns a function that ends it */
  observe(row: Element, onNear: () => void): () => void
}

/** The nearness to the view of the scroller around a row. */
export const NearContext = createContext<Nearness | undefined>(undefined)

/** One observer for all rows of a scroller: one for each would cost more than what it leaves out. */
export function useNearness(scroller: RefObject<HTMLElement | null>): Nearness {
  const nearness = useMemo(() => createNearness(scroller), [])
  useEffect(() => nearness.end, [])
  return nearness
}

function createNearness(scroller: RefObject<HTMLElement | null>): Nearness & { end(): void } {
  const waiting = new Map<Element, () => void>()
  let observer: IntersectionObserver | undefined
  const forget = (row: Element) => {
    waiting.delete(row)
    observer?.unobserve(row)
  }
  const onChange = (entries: IntersectionObserverEntry[]) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue
      waiting.get(target)?.()
      forget(target)
    }
  }
  return {
    observe(row, onNear) {
      // Rows are shown before what is around them is known.
      observer ??= new IntersectionObserver(onChange, { root: scroller.current, rootMargin: `${MARGIN} 0px` })
      waiting.set(row, onNear)
      observer.observe(row)
      return () => forget(row)
    },
    end: () => observer?.disconnect(),
  }
}

/** Whether the row around an element is, or was, near the view. */
export function useIsNear(inside: RefObject<Element | null>): boolean {
  const nearness = useContext(NearContext)
  const [isNear, setNear] = useState(!nearness)
  useEffect(() => {
    const row = inside.current?.closest('li')
    if (isNear || !row) return
    return nearness!.observe(row, () => setNear(true))
  }, [])
  return isNear
}
