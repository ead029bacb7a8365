import { createContext, type RefObject } from 'preact'
import { useContext, useEffect, useLayoutEffect, useMemo, useState } from 'preact/hooks'

/** When rows that have come near are told at the latest, in milliseconds. */
const TIMEOUT_MS = 150

/** How many are told at once where the browser is busy. */
const WHEN_BUSY = 4

/** Tells once of each row of a thread when it comes near the view. */
export interface Nearness {
  /** @returns a function that ends it */
  observe(row: Element, onNear: () => void): () => void
}

/** The nearness to the view of the scroller around a row. */
export const NearContext = createContext<Nearness | undefined>(undefined)

/** Tells when the browser begins to render what is inside of a row, a little before it comes into view, or ends to. */
const CHANGE = 'contentvisibilityautostatechange'

/** A row with the pointer or the focus. */
const USED = ':hover, :focus-within'
const USES = ['pointerover', 'focusin']

/** The browser knows which rows are near, since it renders only those: an observer of its own would cost as much again. */
export function useNearness(scroller: RefObject<HTMLElement | null>): Nearness {
  const nearness = useMemo(createNearness, [])
  useLayoutEffect(() => {
    const { current } = scroller
    const onChange = (event: Event) => nearness.change(event as ContentVisibilityAutoStateChangeEvent)
    const onUse = ({ target }: Event) => nearness.use(target as Element)
    current?.addEventListener(CHANGE, onChange)
    for (const event of USES) current?.addEventListener(event, onUse)
    return () => {
      current?.removeEventListener(CHANGE, onChange)
      for (const event of USES) current?.removeEventListener(event, onUse)
      nearness.end()
    }
  }, [])
  return nearness
}

function createNearness() {
  /** What waits in a row: a question and its answer are in one. */
  const waiting = new Map<EventTarget, Set<() => void>>()
  /** Which are near, and which of them wait to be told. */
  const near = new WeakSet<EventTarget>()
  const due = new Set<EventTarget>()
  let cancel: (() => void) | undefined
  const queue = (row: EventTarget) => {
    due.add(row)
    cancel ??= whenIdle(tell)
  }
  const forget = (row: EventTarget) => {
    waiting.delete(row)
    due.delete(row)
  }
  // While the user scrolls, the rows themselves come first.
  function tell(hasTime: () => boolean): void {
    cancel = undefined
    let count = 0
    for (const row of due) {
      if (count++ >= WHEN_BUSY && !hasTime()) break
      const all = waiting.get(row) ?? []
      forget(row)
      for (const onNear of all) onNear()
    }
    if (due.size > 0) cancel = whenIdle(tell)
  }
  return {
    change({ target, skipped }: ContentVisibilityAutoStateChangeEvent) {
      if (!target) return
      near[skipped ? 'delete' : 'add'](target)
      if (skipped) due.delete(target)
      else if (waiting.has(target)) queue(target)
    },
    observe(row: Element, onNear: () => void) {
      const all = waiting.get(row) ?? new Set()
      waiting.set(row, all.add(onNear))
      if (near.has(row) || row.matches(USED) || !(`on${CHANGE}` in row)) queue(row)
      return () => {
        if (all.delete(onNear) && all.size === 0 && waiting.get(row) === all) forget(row)
      }
    },
    /** The browser renders what is inside of it at once, and tells nothing. */
    use(target: Element) {
      const row = target.closest('li')
      if (row && waiting.has(row)) queue(row)
    },
    end: () => cancel?.(),
  }
}

/** Calls it when the browser has nothing else to do, with whether that is still so. @returns a function that cancels it */
function whenIdle(act: (hasTime: () => boolean) => void): () => void {
  if (typeof requestIdleCallback === 'undefined') {
    const timer = setTimeout(() => act(() => false), TIMEOUT_MS)
    return () => clearTimeout(timer)
  }
  const callback = requestIdleCallback((idle) => act(() => idle.timeRemaining() > 1), { timeout: TIMEOUT_MS })
  return () => cancelIdleCallback(callback)
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
