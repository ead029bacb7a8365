import { useEffect, useRef, useState } from 'preact/hooks'
import { afterFrame } from '../parts/after-frame.ts'

/** How many rows are rendered at first, and how many more with each frame. */
const FIRST = 24
const STEP = 12

/** The rows of a list that are rendered: from one index up to another one. */
export interface Range {
  from: number
  to: number
}

/**
 * Renders a list in steps, from a row on in both directions: all at once would keep the page from responding.
 *
 * @param center the id of the row that comes first; without one, the last row does
 */
export function useRange(ids: readonly string[], center: string | undefined): Range {
  const shown = useRef<{ first?: string | undefined; last?: string | undefined }>({})
  const [, render] = useState({})
  const range = nextRange(ids, shown.current, center)
  const isWhole = range.from === 0 && range.to === ids.length
  useEffect(() => {
    shown.current = { first: ids[range.from], last: ids[range.to - 1] }
    return isWhole ? undefined : afterFrame(() => render({}))
  })
  return range
}

/** What was rendered, and a step more, first below it; where nothing of it is in the list any more, it begins anew. */
export function nextRange(
  ids: readonly string[],
  { first, last }: { first?: string | undefined; last?: string | undefined },
  center?: string,
): Range {
  const [begin, end] = [ids.indexOf(first ?? ''), ids.indexOf(last ?? '')]
  const at = center === undefined ? -1 : ids.indexOf(center)
  if (begin < 0 && end < 0) {
    const from = Math.max(0, (at < 0 ? ids.length : at + FIRST / 2) - FIRST)
    return { from, to: Math.min(ids.length, from + FIRST) }
  }
  const [from, to] = [Math.max(0, begin), end < 0 ? ids.length : end + 1]
  const next = Math.min(ids.length, to + STEP)
  return { from: Math.max(0, from - (STEP - (next - to))), to: next }
}
