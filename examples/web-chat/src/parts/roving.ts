import { useRef, useState } from 'preact/hooks'
import { hasSingleKeys } from '../app/choices.ts'

/** The keys that move the focus in a list, and to which of its links: with letters as with arrows. */
const MOVES: Record<string, (at: number, last: number) => number> = {
  ArrowDown: (at) => at + 1,
  j: (at) => at + 1,
  ArrowUp: (at) => at - 1,
  k: (at) => at - 1,
  Home: () => 0,
  End: (_, last) => last,
}

/** A list whose links are one stop of the Tab key: others of them get the focus by keys of their own. */
export function useRoving(count: number) {
  const [chosen, setChosen] = useState(0)
  const list = useRef<HTMLUListElement>(null)
  const at = Math.min(chosen, Math.max(count - 1, 0))
  const links = () => [...(list.current?.querySelectorAll<HTMLElement>('li > a') ?? [])]
  const focus = (index: number) => links()[index]?.focus()

  return {
    /** The properties of the list. */
    list: {
      ref: list,
      onFocusIn(event: FocusEvent) {
        const index = links().findIndex((link) => link.parentElement!.contains(event.target as Node))
        if (index >= 0) setChosen(index)
      },
      onKeyDown(event: KeyboardEvent) {
        const move = MOVES[event.key]
        if (!move || event.ctrlKey || event.metaKey || event.altKey) return
        if (event.key.length === 1 && hasSingleKeys.value === 'off') return
        event.preventDefault()
        focus(Math.max(0, Math.min(count - 1, move(at, count - 1))))
      },
    },
    tabIndexOf: (index: number) => (index === at ? 0 : -1),
    /** The row with the focus goes: the next one gets it, else the one before. */
    leave() {
      if (!list.current?.contains(document.activeElement)) return
      if (count > 1) focus(at + 1 < count ? at + 1 : at - 1)
      setChosen(at)
    },
  }
}
