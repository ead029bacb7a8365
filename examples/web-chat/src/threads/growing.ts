import { useEffect, useRef, useState } from 'preact/hooks'

/** How many rows are rendered at once: more would keep the page from responding. */
const STEP = 15

/** The time in which the browser paints and answers to keys, between two steps. */
const PAUSE_MS = 8

/**
 * How many of some rows to render now: a few, and more of them step by step. A row that is added to those that are rendered
 * is rendered at once.
 */
export function useGrowing(count: number): number {
  const reached = useRef(0)
  const [, render] = useState(0)
  if (count - reached.current <= STEP) reached.current = count
  else if (reached.current === 0) reached.current = STEP
  const shown = Math.min(count, reached.current)
  useEffect(() => {
    if (shown >= count) return
    const timer = setTimeout(() => {
      reached.current = shown + STEP
      render(reached.current)
    }, PAUSE_MS)
    return () => clearTimeout(timer)
  }, [shown, count])
  return shown
}
