import { useLayoutEffect, useRef } from 'preact/hooks'
import { hasSingleKeys } from '../app/choices.ts'
import { afterFrame } from './after-frame.ts'

/** What can be used in the rows of a list; what a row has opened has keys of its own. */
const CONTROLS = ':is(a[href], button):not(.panel *, dialog *)'
const OPENED = '.panel, dialog, input, textarea'

/** The keys that move the focus in a list, and to which of its rows: with letters as with arrows. */
const MOVES: Record<string, (at: number, last: number) => number> = {
  ArrowDown: (at) => at + 1,
  j: (at) => at + 1,
  ArrowUp: (at) => at - 1,
  k: (at) => at - 1,
  Home: () => 0,
  End: (_, last) => last,
}

/**
 * A list that is one stop of the Tab key: its rows get the focus by keys of their own, which is on the first thing in them that
 * can be used, and what else is in a row gets it by an arrow to its end.
 *
 * @returns the properties of the list, and a function for before the row with the focus goes
 */
export function useRoving() {
  const list = useRef<HTMLUListElement>(null)
  const stop = useRef<HTMLElement | undefined>(undefined)

  const controlsOf = (row: Element | null | undefined) => [...(row?.querySelectorAll<HTMLElement>(CONTROLS) ?? [])]
  const rows = () => [...(list.current?.children ?? [])].filter((row) => controlsOf(row).length > 0)
  const focusRow = (row: Element | undefined) => controlsOf(row)[0]?.focus()

  function update(): void {
    const all = controlsOf(list.current)
    const current = all.find((each) => each === stop.current) ?? all.find((each) => each.ariaCurrent) ?? all[0]
    for (const each of all) each.tabIndex = each === current ? 0 : -1
  }

  // Rows come and go with each rendering, also of those that are not in view.
  useLayoutEffect(update)

  return {
    list: {
      ref: list,
      onFocusIn({ target }: FocusEvent) {
        const row = rows().find((each) => each.contains(target as Node))
        if (!row || (target as Element).closest(OPENED)) return
        stop.current = controlsOf(row)[0]
        update()
      },
      onKeyDown(event: KeyboardEvent) {
        const { key, ctrlKey, metaKey, altKey, target } = event
        // Some of them may have come without the list.
        if (key === 'Tab') return update()
        const all = rows()
        const at = all.findIndex((each) => each.contains(target as Node))
        if (at < 0 || ctrlKey || metaKey || altKey || (target as Element).closest(OPENED)) return
        const side = key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? -1 : 0
        if (!MOVES[key] && side === 0) return
        if (key.length === 1 && hasSingleKeys.value === 'off') return
        event.preventDefault()
        const inside = controlsOf(all[at])
        const step = document.documentElement.dir === 'rtl' ? -side : side
        if (side !== 0) return inside[inside.indexOf(target as HTMLElement) + step]?.focus()
        focusRow(all[Math.max(0, Math.min(all.length - 1, MOVES[key]!(at, all.length - 1)))])
        if (key !== 'Home' && key !== 'End') return
        // Of a long list, only what is near the view is rendered; the next key may come before that.
        list.current!.scrollTop = key === 'Home' ? 0 : list.current!.scrollHeight
        const { activeElement } = document
        afterFrame(() => {
          if (document.activeElement === activeElement || !activeElement?.isConnected)
            focusRow(rows().at(key === 'Home' ? 0 : -1))
        })
      },
    },
    /** The next row gets the focus, else the one before. */
    leave() {
      const all = rows()
      const at = all.findIndex((row) => row.contains(document.activeElement))
      if (at >= 0) focusRow(all[at + 1] ?? all[at - 1])
    },
  }
}
