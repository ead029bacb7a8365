import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { afterFrame } from '../parts/after-frame.ts'

/** How many rows are rendered at first, and at most in a step: more would keep the page from responding. */
const STEP = 12

/** The least of them, on a slow device. */
const LEAST = 3

/** How long a step may take, in milliseconds: the browser then takes twice as long to lay it out and to paint it. */
const BUDGET_MS = 5

/**
 * How many of some rows to render now: a few, and more of them with each frame, fewer at once where they take long. A row
 * that is added to those that are rendered is rendered at once.
 */
export function useGrowing(count: number): number {
  const reached = useRef(0)
  const step = useRef(STEP)
  const [, render] = useState(0)
  const begun = performance.now()
  if (count - reached.current <= STEP) reached.current = count
  else if (reached.current === 0) reached.current = STEP
  const shown = Math.min(count, reached.current)
  useLayoutEffect(() => {
    const fitting = Math.floor((step.current * BUDGET_MS) / (performance.now() - begun))
    step.current = Math.max(LEAST, Math.min(STEP, fitting))
  }, [shown])
  useEffect(() => {
    if (shown >= count) return
    return afterFrame(() => {
      reached.current = shown + step.current
      render(reached.current)
    })
  }, [shown, count])
  return shown
}
