import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'

/** How near to the end counts as being there, in pixels. */
const NEAR = 32

/** What stays where it is on the screen while a list grows or shrinks anywhere. */
export interface Anchor {
  /** Whether the view is at the end, and stays there. */
  isAtEnd: boolean
  toEnd: () => void
  /** Brings a row into view: to the top, or to the middle. */
  toRow: (row: Element, block: 'start' | 'center') => void
}

/**
 * Holds the view of a list at its end, or at the first row in view. The browser does not do this (`overflow-anchor: none`), as
 * not every one can, and two would move the view twice.
 *
 * @param hasEnd whether the end of what is rendered is the end of the list
 */
export function useAnchor(scroller: RefObject<HTMLElement | null>, hasEnd: boolean): Anchor {
  const [isAtEnd, setAtEnd] = useState(false)
  const hold = useRef<Hold | undefined>(undefined)
  useLayoutEffect(() => {
    const current = createHold(scroller.current!, setAtEnd)
    hold.current = current
    return current.stop
  }, [])
  useLayoutEffect(() => hold.current!.update(hasEnd))
  // What is scrolled in an effect of the same rendering comes after it.
  useEffect(() => hold.current!.update(hasEnd), [hasEnd])
  const moves = useMemo(
    () => ({
      toEnd: () => hold.current?.toEnd(),
      toRow: (row: Element, block: 'start' | 'center') => hold.current?.toRow(row, block),
    }),
    [],
  )
  return { isAtEnd: isAtEnd && hasEnd, ...moves }
}

type Hold = ReturnType<typeof createHold>

function createHold(scroller: HTMLElement, onEnd: (isAtEnd: boolean) => void) {
  const rows = scroller.getElementsByClassName('row')
  /** Where the view is: `row` is the first one in view, `offset` its distance from the begin of the list. */
  const view = { isAtEnd: false, hasEnd: false, top: 0, row: undefined as Element | undefined, offset: 0 }

  /** By the list, not by the window: whether the browser has scrolled since does not matter. */
  const offsetOf = (row: Element) =>
    row.getBoundingClientRect().top - scroller.getBoundingClientRect().top + scroller.scrollTop

  const hasMovedUp = () => scroller.scrollTop < view.top - 1
  const isNearEnd = () => scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < NEAR

  function restore(): void {
    if (scroller.clientHeight === 0) return
    // The browser tells of scrolling with the next frame, and more may be rendered until then.
    if (view.isAtEnd && hasMovedUp() && !isNearEnd()) setEnd(false)
    if (view.isAtEnd && view.hasEnd) scroller.scrollTop = scroller.scrollHeight
    else if (view.row?.isConnected) {
      const moved = offsetOf(view.row) - view.offset
      if (Math.abs(moved) >= 0.5) scroller.scrollTop += moved
    }
    note()
  }

  function note(): void {
    view.top = scroller.scrollTop
    view.row = firstInView()
    view.offset = view.row ? offsetOf(view.row) : 0
  }

  function firstInView(): Element | undefined {
    const { top } = scroller.getBoundingClientRect()
    let [from, to] = [0, rows.length]
    while (from < to) {
      const middle = (from + to) >> 1
      if (rows[middle]!.getBoundingClientRect().bottom > top) to = middle
      else from = middle + 1
    }
    // The first row of the list loses the head of its group when older ones of its author come before it.
    return from === 0 ? (rows[1] ?? rows[0]) : rows[from]
  }

  function setEnd(isAtEnd: boolean): void {
    view.isAtEnd = isAtEnd
    onEnd(isAtEnd)
  }

  function onScroll(): void {
    // Of scrolling to the end it hears when more has been rendered below: only moving up leads away.
    setEnd(view.hasEnd && (isNearEnd() || (view.isAtEnd && !hasMovedUp())))
    note()
  }

  /** The rest of a long message is read from where it begins. */
  function onClick({ target }: Event): void {
    if ((target as Element).closest('.unfold')) setEnd(false)
  }

  const sizes = new ResizeObserver(restore)
  for (const each of [scroller, ...scroller.children]) sizes.observe(each)
  scroller.addEventListener('scroll', onScroll, { passive: true })
  scroller.addEventListener('click', onClick)
  return {
    /** After each rendering. */
    update(hasEnd: boolean) {
      view.hasEnd = hasEnd
      restore()
    },
    toEnd() {
      note()
      setEnd(true)
      restore()
    },
    toRow(row: Element, block: 'start' | 'center') {
      setEnd(false)
      const room = scroller.clientHeight - row.getBoundingClientRect().height
      scroller.scrollTop = offsetOf(row) - (block === 'center' ? Math.max(0, room / 2) : 0)
      note()
      // At the end of the list there may be no room to bring it up there.
      view.row = row
      view.offset = offsetOf(row)
      // The end may be in view as well, which shows once rows that were never rendered have their height.
      requestAnimationFrame(() => requestAnimationFrame(onScroll))
    },
    stop() {
      sizes.disconnect()
      scroller.removeEventListener('scroll', onScroll)
      scroller.removeEventListener('click', onClick)
    },
  }
}
