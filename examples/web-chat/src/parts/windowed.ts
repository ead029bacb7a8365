import type { RefObject } from 'preact'
import { useLayoutEffect, useState } from 'preact/hooks'

/** Rows above and below what is in view that are rendered as well. */
const MARGIN = 10

/** A list with fewer rows is rendered whole. */
const MIN_ROWS = 100

/** The rows to render, and the height of those that are left out, in pixels. */
export interface Windowed {
  from: number
  to: number
  above: number
  below: number
}

/**
 * Which rows of a long list are in view, or near. All rows have the height of the first one, and all heads between them.
 *
 * @param scroller the list, which scrolls; its rows are its children
 * @param heads which of the rows are heads, by their places
 */
export function useWindowed(
  scroller: RefObject<HTMLElement | null>,
  count: number,
  heads: readonly number[],
): Windowed {
  const [{ from, to, height, head }, set] = useState({ from: 0, to: MIN_ROWS, height: 0, head: 0 })
  const isLong = count > MIN_ROWS
  useLayoutEffect(() => {
    const { current } = scroller
    if (!current || !isLong) return
    const update = () => {
      const height = current.querySelector<HTMLElement>('[data-row]')?.offsetHeight || 1
      const head = current.querySelector<HTMLElement>('[data-head]')?.offsetHeight ?? height
      // The few heads are lower than rows: the margin covers what counting them as rows misses.
      const first = Math.max(0, Math.floor(current.scrollTop / height) - MARGIN)
      // In steps of the margin, so that most movements render nothing.
      const from = first - (first % MARGIN)
      const to = from + Math.ceil(current.clientHeight / height) + 3 * MARGIN
      set((before) =>
        before.from === from && before.to === to && before.height === height && before.head === head
          ? before
          : { from, to, height, head },
      )
    }
    update()
    const observer = new ResizeObserver(update)
    observer.observe(current)
    current.addEventListener('scroll', update, { passive: true })
    return () => {
      observer.disconnect()
      current.removeEventListener('scroll', update)
    }
  }, [isLong])
  if (!isLong) return { from: 0, to: count, above: 0, below: 0 }
  // A list that has become shorter is scrolled to its new end by the browser.
  const start = Math.min(from, Math.max(0, count - MARGIN))
  const end = Math.min(count, to)
  const lower = (one: number, other: number) => heads.filter((at) => at >= one && at < other).length * (height - head)
  return {
    from: start,
    to: end,
    above: start * height - lower(0, start),
    below: (count - end) * height - lower(end, count),
  }
}
